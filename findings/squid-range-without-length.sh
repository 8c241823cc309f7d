#!/bin/sh
# Squid 5.7 (Debian 12) as a cache: a range of a stored answer that came in chunks, so without Content-Length.
# Guess: 206 with these bytes, or 200 with all of them.
# Seen: 200, as long as the whole, but the bytes begin at the range and its tail comes twice. With a length it is a 206.
set -eu
work=$(mktemp -d)
trap 'kill $squid $origin 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root squid=5.7-2+deb12u6 squid-common=5.7-2+deb12u6 \
  squid-langpack libecap3 libtdb1 libltdl7 libdb5.3 libnetfilter-conntrack3 libnfnetlink0
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu"
cat >origin.mjs <<'JS'
import { createServer } from 'node:http';
createServer(({ url }, response) => {
  response.setHeader('cache-control', 'max-age=600');
  if (url === '/length') response.setHeader('content-length', 10);
  response.write('abcde');
  response.end('fghij');
}).listen(18131, '127.0.0.1');
JS
cat >squid.conf <<CONF
http_port 127.0.0.1:18132 accel defaultsite=127.0.0.1 no-vhost
cache_peer 127.0.0.1 parent 18131 0 no-query no-digest originserver
http_access allow all
pid_filename none
access_log none
cache_log /dev/null
netdb_filename none
pinger_enable off
coredump_dir $work
unlinkd_program $work/root/usr/lib/squid/unlinkd
mime_table $work/root/usr/share/squid/mime.conf
icon_directory $work/root/usr/share/squid/icons
error_directory $work/root/usr/share/squid-langpack/templates
CONF
chmod a+rx .
node origin.mjs &
origin=$!
root/usr/sbin/squid -N -f "$work/squid.conf" &
squid=$!
root/usr/sbin/squid -v | head -1
for path in length chunks; do
  curl --silent --fail --retry 10 --retry-all-errors --retry-delay 1 --output /dev/null "http://127.0.0.1:18132/$path"
  for range in 3-4 7-8; do
    curl --silent --range "$range" --write-out " %{http_code} $path $range\n" "http://127.0.0.1:18132/$path"
  done
done | tee seen
grep -qx 'de 206 length 3-4' seen
grep -qx 'defghijhij 200 chunks 3-4' seen
grep -qx 'hijdefghij 200 chunks 7-8' seen
