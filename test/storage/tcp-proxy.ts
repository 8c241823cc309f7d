import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { atPort } from './postgres-server.ts';

/** Asked about the first bytes that a client sends: a promise keeps them back until it resolves. */
type Gate = (first: Buffer) => Promise<void> | undefined;

/** A TCP proxy of this test's own: it plays a network that fails, and a name that leads to another server. */
export class TcpProxy implements AsyncDisposable {
  /** The port on 127.0.0.1 that clients are taken to. */
  target: number;
  /** What the client of each connection sent first. */
  readonly firsts: Buffer[] = [];
  gate: Gate = () => undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: number) {
    this.target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  static async start(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** A connection string that goes through the proxy. */
  through(url: string): string {
    return atPort(url, this.port);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Refuses new connections; those that are there go on. */
  refuse(): void {
    this.#server.close();
  }

  /** Ends every connection at once, without a word to either side's program. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #join(client: Socket): void {
    this.#keep(client);
    client.once('data', async (data) => {
      const first = Buffer.isBuffer(data) ? data : Buffer.from(data);
      client.pause();
      this.firsts.push(first);
      await this.gate(first);
      const server = connect(this.target, '127.0.0.1');
      this.#keep(server);
      server.write(first);
      client.pipe(server).pipe(client);
      server.once('error', () => client.destroy());
      client.once('close', () => server.destroySoon());
    });
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket)).on('error', () => {});
  }
}
