import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { openPool } from './postgres-pool.ts';
import { PostgresServer } from './postgres-server.ts';
import { TcpProxy } from './tcp-proxy.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

/** What takes connections and is no PostgreSQL. */
interface Impostor extends AsyncDisposable {
  readonly port: number;
  /** How many connections it took, and how many it had at a time since that was last set to 0. */
  taken: number;
  together: number;
}

/** @param meet Does something with a connection. */
async function startImpostor(meet: (socket: Socket) => void): Promise<Impostor> {
  const sockets = new Set<Socket>();
  const listening = createServer((socket) => {
    sockets.add(socket);
    impostor.taken += 1;
    impostor.together = Math.max(impostor.together, sockets.size);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    meet(socket);
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const impostor: Impostor = {
    port: (listening.address() as AddressInfo).port,
    taken: 0,
    together: 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listening.close(resolve));
    },
  };
  return impostor;
}

function withHostBefore(url: string, port: number): string {
  return url.replace(/@[^/]*/, `@127.0.0.1:${port},127.0.0.1:${server.port}`);
}

test('a host that says nothing does not keep the next one waiting, and is not the first to be asked again', async () => {
  await using silent = await startImpostor(() => {});
  const url = withHostBefore(await server.makeDatabase(), silent.port);
  await using pool = openPool(url, { connections: 3, connectionMs: 2_000 });
  const look = { text: 'SELECT pg_sleep(0.2)' };
  await pool.read(look);
  assert.equal(silent.taken, 1);
  await Promise.all([pool.read(look), pool.read(look), pool.read(look)]);
  assert.equal(pool.counts().idle, 3);
  assert.equal(silent.taken, 1);
});

test('a server that does not let go of a connection gets no further one, and another host of the list serves', async () => {
  await using proxy = await TcpProxy.start(server.port);
  const url = withHostBefore(await server.makeDatabase(), proxy.port);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  // A request to cancel has 16 bytes.
  proxy.gate = (first) => (first.length === 16 ? released : undefined);
  await using pool = openPool(url, { answerMs: 1_000 });
  await pool.read({ text: 'SELECT 1' });
  await assert.rejects(pool.read({ text: 'SELECT pg_sleep(600)' }), /no answer in 1000 ms/);
  assert.equal((await pool.read({ text: 'SELECT 1' })).length, 1);
  const { length } = proxy.firsts.filter((first) => first.length !== 16);
  release();
  assert.equal(length, 1);
});

test('while no server will do, there is one try to connect at a time', async () => {
  await using closing = await startImpostor((socket) => setTimeout(() => socket.destroy(), 100));
  const url = `postgres://todo@127.0.0.1:${closing.port}/todos`;
  await using pool = openPool(url, { connections: 10 });
  const look = () => assert.rejects(pool.read({ text: 'SELECT 1' }), { name: 'StoreUnavailable' });
  await look();
  closing.together = 0;
  for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: 20 }, look));
  assert.equal(closing.together, 1);
});

test('where several servers will not do, the line names each with its reason', async () => {
  const url = withHostBefore(await server.makeDatabase(), 1).replace(/todos_\d+$/, 'nowhere');
  await using pool = openPool(url);
  await assert.rejects(pool.read({ text: 'SELECT 1' }), {
    name: 'StoreUnavailable',
    message: `No connection to the database: 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1; 127.0.0.1:${server.port}: database "nowhere" does not exist`,
  });
});
