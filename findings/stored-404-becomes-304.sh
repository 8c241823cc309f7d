#!/bin/sh
# Traffic Server 9.2.9 and httpd 2.4.71 (Debian 12) as caches: a kept 404 with an entity tag is asked for with this tag, and a
# kept 412 is asked for again.
# Guess: the 404, since a condition counts only where the answer would be 2xx (RFC 9110 §13.2.1), and the 412 as it came.
# Seen: both make a 304 of the 404 (nginx and Varnish do not). Traffic Server gives the 412 without its body and its type.
set -eu
work=$(mktemp -d)
trap 'kill $server $httpd $origin 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root apache2-bin=2.4.71-1~deb12u1 libapr1 libaprutil1 liblua5.3-0 libjansson4 \
  trafficserver=9.2.5+ds-0+deb12u4 libhwloc15 libpcre3 libyaml-cpp0.7 libunwind8
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$work/root/lib/x86_64-linux-gnu:$work/root/usr/lib/x86_64-linux-gnu:$work/root/usr/lib/trafficserver"
cat >origin.mjs <<'JS'
import { createServer } from 'node:http';
createServer(({ url }, response) => {
  response.writeHead(Number(url.slice(1)), { 'cache-control': 'max-age=600', 'content-type': 'application/problem+json', etag: '"1"' });
  response.end('{}');
}).listen(18131, '127.0.0.1');
JS
modules=$work/root/usr/lib/apache2/modules
for name in mpm_event authz_core proxy proxy_http cache cache_disk; do
  echo "LoadModule ${name}_module $modules/mod_$name.so"
done >httpd.conf
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
mkdir kept etc store run
cat >runroot.yaml <<'YAML'
prefix: .
exec_prefix: .
bindir: ./root/usr/bin
sbindir: ./root/usr/sbin
sysconfdir: ./etc
datadir: ./store
includedir: ./root/usr/include
libdir: ./root/usr/lib/trafficserver
libexecdir: ./root/usr/lib/trafficserver/modules
localstatedir: ./run
runtimedir: ./run
logdir: ./run
cachedir: ./store
YAML
cp -r root/etc/trafficserver/* etc
echo "map http://127.0.0.1:18133/ http://127.0.0.1:18131/" >etc/remap.config
echo "$work/store 64M" >etc/storage.config
sed -i "s/server_ports STRING.*/server_ports STRING 127.0.0.1:18133/; s/admin.user_id STRING.*/admin.user_id STRING nobody/" etc/records.config
echo "CONFIG proxy.config.body_factory.template_sets_dir STRING $work/etc/body_factory" >>etc/records.config
chmod -R a+rwX .
node origin.mjs &
origin=$!
root/usr/sbin/apache2 -DFOREGROUND -f "$work/httpd.conf" &
httpd=$!
TS_RUNROOT=$work root/usr/bin/traffic_server >log 2>&1 &
server=$!
root/usr/sbin/apache2 -v | head -1
TS_RUNROOT=$work root/usr/bin/traffic_server -V 2>/dev/null | head -1
for name in httpd:18132 traffic-server:18133; do
  address=http://127.0.0.1:${name#*:}
  until [ "$(curl --silent --output /dev/null --write-out '%{http_code}' "$address/404")" = 404 ]; do sleep 1; done
  echo "${name%:*} $(curl --silent --output /dev/null --header 'If-None-Match: "1"' --write-out '%{http_code}' "$address/404")"
  curl --silent --output /dev/null "$address/412"
  echo "${name%:*} $(curl --silent --write-out ' %{http_code} %{content_type}' "$address/412")"
done | tee seen
grep -qx 'httpd 304' seen
grep -qx 'traffic-server 304' seen
grep -q '^httpd {} 412 application/problem+json' seen
grep -qx 'traffic-server  412 ' seen
