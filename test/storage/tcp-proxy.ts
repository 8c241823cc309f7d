import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { freePort } from '../support/folder.ts';
import { atPort } from './postgres-server.ts';

/** A TCP proxy of this test's own: it plays a network that fails, and a name that leads to another server. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** The port on 127.0.0.1 that clients are taken to. */
  target: number;
  /** What the client of each connection sent first. */
  readonly firsts: Buffer[];
  /** Asked about the first bytes that a client sends: a promise keeps them back until it resolves. */
  gate: (first: Buffer) => Promise<void> | undefined;
  /** What a client that sends this first gets in place of a connection to the server. */
  refusal: (first: Buffer) => Buffer | undefined;
  /** What the server gets in place of what a client sends later. */
  edit: (sent: Buffer) => Buffer;
  /** A connection string that goes through the proxy. */
  through(url: string): string;
  /** Refuses new connections; those that are there go on. */
  refuse(): void;
  /** Ends every connection at once, without a word to either side's program. */
  cut(): void;
  /** Forwards nothing more on the connections that are there, and resets none. */
  freeze(): void;
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => {});
  };
  const server = createServer((client) => {
    keep(client);
    client.once('data', async (first: Buffer) => {
      client.pause();
      proxy.firsts.push(first);
      await proxy.gate(first);
      const refusal = proxy.refusal(first);
      if (refusal !== undefined) return void client.end(refusal);
      const upstream = connect(proxy.target, '127.0.0.1');
      keep(upstream);
      upstream.write(first);
      const edited = new Transform({ transform: (sent, _, done) => done(null, proxy.edit(sent)) });
      client.pipe(edited).pipe(upstream).pipe(client);
      upstream.once('error', () => client.destroy());
      client.once('close', () => upstream.destroySoon());
    });
  });
  // Nobody else takes it once it is refused.
  const port = await freePort();
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const proxy: TcpProxy = {
    port,
    target,
    firsts: [],
    gate: () => undefined,
    refusal: () => undefined,
    edit: (sent) => sent,
    through: (url) => atPort(url, port),
    refuse: () => void server.close(),
    cut() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    [Symbol.asyncDispose]() {
      proxy.cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
}
