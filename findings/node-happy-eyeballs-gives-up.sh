#!/bin/sh
# Node.js 20.20 to 26.12 (Linux): net.connect to a name with two addresses, where the first answers the second SYN and the second none.
# Guess: after autoSelectFamilyAttemptTimeout the next address is tried beside the first, as RFC 8305 §5 has it, and the
# one that answers first wins: connected after the second that TCP waits before a second SYN.
# Seen: the first is given up, and the last address has no time limit. The server that would have answered after a second
# is never reached; with a limit above one second it is.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >look.mjs <<'JS'
import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
// A listener whose queue is full until it may accept: the kernel drops each further SYN.
const code = `const { workerData: { gate, port, host }, parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer().listen({ port, host, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(gate, 0, 0));
  });`;
async function full(host, wanted) {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const [port] = await once(new Worker(code, { eval: true, workerData: { gate, host, port: wanted } }), 'message');
  for (let at = 0; at < 2; at += 1) await once(connect(port, host), 'connect');
  return { port, accept: () => Atomics.store(gate, 0, 1) + Atomics.notify(gate, 0) };
}
for (const limit of [500, 1250]) {
  const slow = await full('127.0.0.2', 0);
  await full('127.0.0.3', slow.port);
  const addresses = ['127.0.0.2', '127.0.0.3'].map((address) => ({ address, family: 4 }));
  const lookup = (_name, _options, answer) => answer(null, addresses);
  const options = { host: 'two.example', port: slow.port, lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: limit };
  const socket = connect(options);
  setTimeout(slow.accept, 200);
  const over = new Promise((resolve) => setTimeout(resolve, 4000, 'not connected after 4 s'));
  console.log(`${limit} ms: ${await Promise.race([once(socket, 'connect').then(() => 'connected'), over])}`);
  socket.destroy();
}
process.exit();
JS
echo "Node.js $(node --version)"
node look.mjs | tee seen
grep -qx '500 ms: not connected after 4 s' seen
grep -qx '1250 ms: connected' seen
