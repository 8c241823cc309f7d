#!/bin/sh
# @octokit/core 7.0.8 (Node.js): an error of a server that answers with Problem Details (RFC 9457).
# Guess: as application/problem+json is JSON by its suffix, the error has the body parsed, and its title in the message.
# Seen: the body is an ArrayBuffer, and the message is "Unknown error". The same body as application/json is parsed;
# application/scim+json is the one suffix that is known.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @octokit/core@7.0.8 @octokit/request@10.0.16
cat >look.mjs <<'JS'
import { createServer } from 'node:http';
import { Octokit } from '@octokit/core';
const server = createServer((request, response) => {
  response.writeHead(400, { 'content-type': request.url.slice(1) });
  response.end('{"title":"Bad Request","message":"no milk","status":400}');
}).listen(0, '127.0.0.1', async () => {
  const octokit = new Octokit({ baseUrl: `http://127.0.0.1:${server.address().port}`, log: { error() {}, warn() {}, info() {}, debug() {} } });
  for (const type of ['application/json', 'application/scim+json', 'application/problem+json', 'application/hal+json']) {
    const error = await octokit.request(`GET /${type}`).catch((error) => error);
    console.log(`${type}: ${error.response.data.constructor.name}, ${error.message}`);
  }
  server.close();
});
JS
echo "Node.js $(node --version), @octokit/core 7.0.8, @octokit/request 10.0.16"
node look.mjs | tee seen
grep -q '^application/json: Object, no milk' seen && grep -q '^application/scim+json: Object' seen
grep -qx 'application/problem+json: ArrayBuffer, Unknown error' seen
