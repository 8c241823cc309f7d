#!/bin/sh
# httpd 2.4.71 (Debian 12) with mod_cache_disk: the origin says Cache-Control: no-cache, and later answers 500, 503 or not at all.
# Guess: a 500, a 503, a 502, since no-cache wants a successful validation before each use (RFC 9111 §5.2.2.4).
# Seen: 200 with the kept body and Warning: 111, by default (CacheStaleOnError); must-revalidate forbids it.
set -eu
work=$(mktemp -d)
trap 'kill $httpd $origin 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root apache2-bin=2.4.71-1~deb12u1 libapr1 libaprutil1 liblua5.3-0 libjansson4
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu"
cat >origin.mjs <<'JS'
import { createServer } from 'node:http';
const seen = new Set();
createServer(({ url, headers, socket }, response) => {
  const [, status, control] = url.split('/');
  response.setHeader('cache-control', decodeURIComponent(control));
  response.setHeader('etag', '"1"');
  if (!seen.has(url)) return seen.add(url), response.end('kept');
  if (status === 'none') return socket.destroy();
  response.writeHead(Number(status)).end('new');
}).listen(18131, '127.0.0.1');
JS
modules=$work/root/usr/lib/apache2/modules
for name in mpm_event authz_core proxy proxy_http cache cache_disk; do
  echo "LoadModule ${name}_module $modules/mod_$name.so"
done >httpd.conf
mkdir kept
chmod a+rx .
chmod a+rwx kept
cat >>httpd.conf <<CONF
ServerRoot $work
ServerName localhost
PidFile $work/pid
ErrorLog $work/errors
Listen 127.0.0.1:18132
CacheRoot $work/kept
CacheEnable disk /
ProxyPass / http://127.0.0.1:18131/
CONF
node origin.mjs &
origin=$!
root/usr/sbin/apache2 -DFOREGROUND -f "$work/httpd.conf" &
httpd=$!
root/usr/sbin/apache2 -v | head -1
ask() { curl --silent --write-out ' %{http_code}\n' "$@"; }
curl --silent --output /dev/null --retry 10 --retry-all-errors --retry-delay 1 --fail "http://127.0.0.1:18132/200/no-store"
for control in no-cache max-age=0,must-revalidate; do
  for status in 500 503 none; do
    ask --output /dev/null "http://127.0.0.1:18132/$status/$control" >/dev/null
    echo "$control, then $status:$(ask --output body "http://127.0.0.1:18132/$status/$control")"
  done
done | tee seen
[ "$(grep -c '^no-cache, then .*: 200$' seen)" = 3 ]
[ "$(grep -c ': 50[023]$' seen)" = 3 ]
