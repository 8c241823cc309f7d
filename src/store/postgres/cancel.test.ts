import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createServer } from 'node:tls';
import { Client } from 'pg';
import { addressOf } from './address.ts';
import { cancel } from './cancel.ts';

const pathOf = (name: string): string =>
  new URL(`../../../test/storage/tls/${name}`, import.meta.url).pathname;
const certificate = pathOf('test-only-server.pem');
const key = pathOf('test-only-server.key');
const root = pathOf('right-root.pem');

test('a request to cancel shows the certificate that the connection shows', async () => {
  const received: unknown[] = [];
  const server = createServer({
    cert: readFileSync(certificate),
    key: readFileSync(key),
    requestCert: true,
    // Who shows the test's only certificate, which is for servers, is let in, too.
    rejectUnauthorized: false,
    ALPNProtocols: ['postgresql'],
  });
  server.on('secureConnection', (socket) => {
    socket.once('data', (request) => {
      received.push(socket.getPeerCertificate().subject?.CN, request.toString('hex'));
      socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { config } = addressOf(
    `postgres://todo@localhost:${port}/todos?sslnegotiation=direct&sslrootcert=${root}&sslcert=${certificate}&sslkey=${key}`,
    {},
  );
  // The driver changes what it is given.
  new Client(config);
  const outcome = await cancel({
    target: { host: '127.0.0.1', port },
    host: 'localhost',
    tls: config.ssl,
    negotiation: config.sslnegotiation,
    processID: 1,
    secretKey: 2,
  });
  server.close();
  assert.equal(outcome, 'delivered');
  assert.deepEqual(received, ['todo-service tests (server)', '0000001004d2162e0000000100000002']);
});
