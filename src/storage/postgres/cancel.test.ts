import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer as createTcpServer, Socket } from 'node:net';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { listen, temporaryFolder } from '../../../test/support/folder.ts';
import { addressOf } from './address.ts';
import { cancel, processOf } from './cancel.ts';

// A slow machine must not end a request here.
mock.timers.enable({ apis: ['setTimeout'] });

const pathOf = (name: string): string =>
  fileURLToPath(new URL(`../../../test/storage/tls/${name}`, import.meta.url));
const certificate = pathOf('test-only-server.pem');
const key = pathOf('test-only-server.key');

/**
 * The result of a request to cancel with one root certificate, and what a server received of it: the name that is asked
 * for, the protocol, the certificate and the bytes.
 */
async function cancelWith(
  root: string,
  negotiation: 'direct' | 'postgres' = 'direct',
): Promise<readonly unknown[]> {
  const received: unknown[] = [];
  await using server = createServer({
    cert: readFileSync(certificate),
    key: readFileSync(key),
    requestCert: true,
    // The test's only certificate, which is for servers, is accepted from a client too.
    rejectUnauthorized: false,
    ALPNProtocols: ['postgresql'],
    SNICallback(name, done) {
      received.push(name);
      done(null);
    },
  });
  server.on('tlsClientError', () => {});
  server.on('secureConnection', (socket) => {
    socket.once('data', (request) => {
      received.push(socket.alpnProtocol, socket.getPeerCertificate().subject?.CN, request.toString('hex'));
      socket.end();
    });
  });
  await using asked = createTcpServer((socket) => {
    socket.once('data', (request) => {
      received.push(request.toString('hex'));
      server.emit('connection', socket);
      socket.write('S');
    });
  });
  const port = await listen(negotiation === 'direct' ? server : asked);
  const files = { sslrootcert: pathOf(root), sslcert: certificate, sslkey: key };
  const parameters = Object.entries(files).map(([name, path]) => `&${name}=${encodeURIComponent(path)}`);
  const { config } = addressOf(
    `postgres://todo@localhost:${port}/todos?sslmode=verify-full&sslnegotiation=${negotiation}${parameters.join('')}`,
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
  // The bytes are received when it has closed.
  if (negotiation === 'direct') await server[Symbol.asyncDispose]();
  else await asked[Symbol.asyncDispose]();
  return [outcome, ...received];
}

test('a request to cancel shows the certificate that the connection shows', async () => {
  assert.deepEqual(await cancelWith('right-root.pem'), [
    'delivered',
    'localhost',
    'postgresql',
    'todo-service tests (server)',
    '0000001004d2162e0000000100000002',
  ]);
});

test('a server that is asked for TLS first gets the request encrypted', async () => {
  assert.deepEqual(await cancelWith('right-root.pem', 'postgres'), [
    'delivered',
    '0000000804d2162f',
    'localhost',
    false,
    'todo-service tests (server)',
    '0000001004d2162e0000000100000002',
  ]);
});

test('a server that cannot show whose it is gets no request', async () => {
  assert.deepEqual(await cancelWith('wrong-root.pem'), ['unanswered', 'localhost']);
});

/** Will take connections without TLS, and note what comes over them. */
function plainServer(answer: (socket: Socket) => void) {
  const received: string[] = [];
  const server = createTcpServer((socket) => {
    socket.once('data', (request) => {
      received.push(request.toString('hex'));
      answer(socket);
    });
  });
  return { server, received };
}

const PROCESS = { processID: 1, secretKey: 2, negotiation: 'postgres' } as const;

test('a request to cancel goes over a Unix socket, too', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, '.s.PGSQL.5432');
  const { server, received } = plainServer((socket) => socket.end());
  await once(server.listen(path), 'listening');
  const process = { ...PROCESS, target: { path }, host: folder.path, tls: false } as const;
  assert.equal(await cancel(process), 'delivered');
  assert.deepEqual(received, ['0000001004d2162e0000000100000002']);
  server.close();
  assert.equal(await cancel(process), 'unreachable');
});

test('what a server answers to a request to cancel is left alone, whatever it is', async () => {
  const { server } = plainServer((socket) => socket.end(Buffer.from('5400000006ffff', 'hex')));
  const port = await listen(server);
  const process = { ...PROCESS, target: { host: '127.0.0.1', port }, host: 'localhost', tls: false } as const;
  assert.equal(await cancel(process), 'delivered');
  server.close();
});

test('a server that speaks no TLS gets no request over a connection that asks for it', async () => {
  const { server, received } = plainServer((socket) => socket.write('N'));
  const port = await listen(server);
  const process = { ...PROCESS, target: { host: '127.0.0.1', port }, host: 'localhost', tls: {} } as const;
  assert.equal(await cancel(process), 'unanswered');
  assert.deepEqual(received, ['0000000804d2162f']);
  server.close();
});

test('a server that has a connection and says nothing has not answered after 2 s', async () => {
  const heard = Promise.withResolvers<void>();
  const { server } = plainServer(() => heard.resolve());
  const port = await listen(server);
  const process = { ...PROCESS, target: { host: '127.0.0.1', port }, host: 'localhost', tls: false } as const;
  const outcome = cancel(process);
  await heard.promise;
  mock.timers.tick(1_999);
  assert.equal(await Promise.race([outcome, turn('under way')]), 'under way');
  mock.timers.tick(1);
  assert.equal(await outcome, 'unanswered');
  server.close();
});

test('an address is no name to ask a server for', async () => {
  const names: string[] = [];
  await using server = createServer({
    cert: readFileSync(certificate),
    key: readFileSync(key),
    SNICallback(name, done) {
      names.push(name);
      done(null);
    },
  });
  server.on('secureConnection', (socket) => socket.once('data', () => socket.end()));
  const port = await listen(server);
  const target = { host: '127.0.0.1', port };
  const tls = { rejectUnauthorized: false };
  const process = { ...PROCESS, target, host: '127.0.0.1', tls, negotiation: 'direct' } as const;
  assert.equal(await cancel(process), 'delivered');
  assert.deepEqual(names, []);
});

test('the process of a connection is at the address that it has reached, or at its Unix socket', async () => {
  await using server = createTcpServer((socket) => socket.resume());
  const port = await listen(server);
  const key = { processID: 1, secretKey: 2 };
  const { config } = addressOf('postgres://todo@localhost/todos', {});
  const rest = { ...key, tls: config.ssl, negotiation: config.sslnegotiation };
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const host = { host: 'localhost', port };
  assert.deepEqual(processOf(key, socket, host, config), {
    ...rest,
    host: 'localhost',
    target: { host: '127.0.0.1', port },
  });
  socket.destroy();
  assert.equal(processOf(key, new Socket(), host, config), undefined);
  assert.deepEqual(processOf(key, socket, { host: '/run', port: 5433 }, config), {
    ...rest,
    host: '/run',
    target: { path: '/run/.s.PGSQL.5433' },
  });
});
