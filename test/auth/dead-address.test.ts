import assert from 'node:assert/strict';
import dns from 'node:dns';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { openRemoteKeys } from '../../src/auth/keys/remote.ts';
import { startService } from '../support/start.ts';
import { jwks } from './forge.ts';
import { keptLog } from './trust.ts';

const skip = process.platform !== 'linux' && 'Linux alone has 127.0.0.2';

/** A server that accepts no connection until it may: its queue is full, and the kernel drops each further SYN. */
const SERVER = `
  const { parentPort, workerData: { host, port, gate, keys } } = require('node:worker_threads');
  const server = require('node:http').createServer(({ headers, url }, response) => {
    parentPort.postMessage(url);
    const issuer = 'http://' + headers.host;
    response.end(url === '/jwks' ? keys : JSON.stringify({ issuer, jwks_uri: issuer + '/jwks' }));
  });
  server.listen({ host, port, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(gate, 0, 0));
  });`;

async function startFull(host: string, wanted = 0) {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { host, port: wanted, gate, keys: JSON.stringify(jwks()) };
  const worker = new Worker(SERVER, { eval: true, workerData });
  const [port]: number[] = await once(worker, 'message');
  const waiting: Socket[] = [];
  for (let at = 0; at < 2; at += 1) {
    const socket = connect(Number(port), host).on('error', () => {});
    await once(socket, 'connect');
    waiting.push(socket);
  }
  return {
    worker,
    port: Number(port),
    accept() {
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of waiting) socket.destroy();
      await worker.terminate();
    },
  };
}

/** The first answers a second SYN, which comes after a second, the other none. */
const ADDRESSES = ['127.0.0.2', '127.0.0.3'].map((address) => ({ address, family: 4 }));

test('keys come from an issuer whose first address loses a SYN, and whose second is dead [D27]', {
  skip,
}, async ({ mock }) => {
  await using late = await startFull('127.0.0.2');
  await using dead = await startFull('127.0.0.3', late.port);
  type Answer = (error: null, addresses: typeof ADDRESSES) => void;
  mock.method(dns, 'lookup', (_name: string, _options: object, answer: Answer) => answer(null, ADDRESSES));
  const { logEvent, lines } = keptLog();
  const source = { kind: 'discovery', issuer: `http://localhost:${dead.port}` } as const;
  const keys = openRemoteKeys(source, { logEvent, cooldownMs: 1e9, refreshMs: 1e9 });
  setTimeout(late.accept, 300);
  await keys.refresh();
  await keys[Symbol.asyncDispose]();
  assert.equal(keys.current()?.length, 6, String(lines[0]?.reason));
});

test('spans reach a collector whose first address loses a SYN, and whose second is dead [D27]', {
  skip,
}, async () => {
  await using late = await startFull('127.0.0.2');
  await using dead = await startFull('127.0.0.3', late.port);
  const addresses = JSON.stringify(ADDRESSES);
  const lookup = `import dns from 'node:dns'; const real = dns.lookup; dns.lookup = (name, options, answer) =>
    name === 'collector' ? answer(null, ${addresses}) : real(name, options, answer);`;
  const env = {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(lookup)}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://collector:${dead.port}`,
    OTEL_BSP_SCHEDULE_DELAY: '20',
  };
  await using service = await startService({ profile: 'error-demo', env, args: ['--host', '127.0.0.1'] });
  let received: unknown;
  late.worker.on('message', (target) => {
    received = target;
  });
  await (await fetch(`${service.baseUrl}/todos/1`)).text();
  setTimeout(late.accept, 300);
  const isOver = () => received !== undefined || service.stdout().includes('traces-not-sent');
  while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(received, '/v1/traces');
});
