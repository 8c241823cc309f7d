#!/bin/sh
# Varnish 7.1.1 (Debian 12): a kept answer is asked for with If-None-Match that has its tag alone, in a list, or is *.
# Guess: 304 each time (RFC 9110 §13.1.2).
# Seen: 304 for the tag alone; a list that has it, and *, get 200 with the whole body.
set -eu
work=$(mktemp -d)
trap 'kill $varnish $origin 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root varnish=7.1.1-2+deb12u1 libvarnishapi3=7.1.1-2+deb12u1 libjemalloc2
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/usr/lib/varnish"
cat >origin.mjs <<'JS'
import { createServer } from 'node:http';
createServer((request, response) => {
  response.writeHead(200, { 'cache-control': 'max-age=600', etag: '"1"' });
  response.end('kept');
}).listen(18131, '127.0.0.1');
JS
node origin.mjs &
origin=$!
chmod -R a+rX .
root/usr/sbin/varnishd -F -n "$work/run" -j none -a 127.0.0.1:18132 -b 127.0.0.1:18131 -s malloc,16m >log 2>&1 &
varnish=$!
root/usr/sbin/varnishd -V 2>&1 | head -1
curl --silent --fail --retry 20 --retry-all-errors --retry-delay 1 --output /dev/null http://127.0.0.1:18132/
for tags in '"1"' '"1", "2"' '"2", "1"' '*'; do
  curl --silent --output /dev/null --header "If-None-Match: $tags" --write-out "$tags: %{http_code}\n" http://127.0.0.1:18132/
done | tee seen
[ "$(grep -c ': 304$' seen)" = 1 ] && [ "$(grep -c ': 200$' seen)" = 3 ]
