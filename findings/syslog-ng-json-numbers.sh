#!/bin/sh
# syslog-ng 3.38.1 (Debian 12): json-parser() reads a line, $(format-json) writes it.
# Guess: with @version 3.38 each number becomes a string of the same digits, with 4.0 the same number.
# Seen: with both, a fraction has six digits, so 1.5e-7 is 0.000000; an integer above 2^63-1 is that; [null] becomes "" or [""].
set -eu
work=$(mktemp -d)
trap 'kill $syslog 2>/dev/null || true; wait; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root syslog-ng-core=3.38.1-5+deb12u1 libivykis0 libnet1 libwrap0 libjson-c5 libpcre3
for deb in *.deb; do dpkg -x "$deb" root; done
export LD_LIBRARY_PATH="$work/root/lib/x86_64-linux-gnu:$work/root/usr/lib/x86_64-linux-gnu:$work/root/usr/lib/syslog-ng"
printf '{"small":1.5e-7,"ms":0.123456789,"big":9223372036854775808,"list":[null]}\n' >in
for version in 3.38 4.0; do
  cat >conf <<CONF
@version: $version
source s { file("$work/in" flags(no-parse)); };
parser p { json-parser(prefix(".j.")); };
destination d { file("$work/out-$version" template("\$(format-json --scope none --key .j.* --shift-levels 2)\n")); };
log { source(s); parser(p); destination(d); };
CONF
  root/usr/sbin/syslog-ng --foreground --no-caps -f conf -p pid -c control -R "persist-$version" --module-path root/usr/lib/syslog-ng/3.38 >log 2>&1 &
  syslog=$!
  until [ -s "out-$version" ]; do sleep 1; done
  kill $syslog
  wait $syslog || true
  echo "@version $version: $(cat "out-$version")"
done
root/usr/sbin/syslog-ng --version | head -2
grep -q '"small":"0.000000"' out-3.38 && grep -q '"ms":"0.123457"' out-3.38 && grep -q '"big":"9223372036854775807"' out-3.38
grep -q '"small":0.000000' out-4.0 && grep -q '"ms":0.123457' out-4.0 && grep -q '"list":\[""\]' out-4.0
