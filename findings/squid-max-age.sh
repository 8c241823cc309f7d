#!/bin/sh
# Squid 5.7 (Debian 12) as a cache: an answer with a long max-age, of which RFC 9111 §1.2.2 names 2147483648 for too large ones.
# Guess: both are fresh for years; a number that is too large is taken for the largest.
# Seen: 2147483648 and more is stale at once, each request goes to the origin; 99999999999 is 1215752191 modulo 2^32, and fresh.
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
let answers = 0;
createServer(({ url }, response) => {
  response.setHeader('cache-control', `max-age=${url.slice(1)}`);
  response.end(String(++answers));
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
ask() { curl --silent --fail --retry 10 --retry-all-errors --retry-delay 1 "http://127.0.0.1:18132/$1"; }
for seconds in 2147483647 2147483648 4294967295 99999999999; do
  first=$(ask $seconds)
  if [ "$(ask $seconds)" = "$first" ]; then echo "$seconds from the cache"; else echo "$seconds from the origin"; fi
done | tee seen
grep -qx '2147483647 from the cache' seen
grep -qx '2147483648 from the origin' seen
grep -qx '4294967295 from the origin' seen
grep -qx '99999999999 from the cache' seen
