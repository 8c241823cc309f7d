import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { Client } from 'pg';
import type { ProcessKey } from '../../src/storage/postgres/cancel.ts';
import { freePort } from '../support/folder.ts';
import { atPort, PASSWORD } from './postgres-server.ts';

/**
 * A pooler of this test's own. It names the process of the first of the two sessions with the server that each of its
 * clients has, as Odyssey and pgagroal do, and takes the settings that come with a login.
 */
export interface FakePooler extends AsyncDisposable {
  /** Whether a transaction outlives the statement that begins it; else every later one commits by itself. */
  keeps: boolean;
  /** Whether a request goes to the second session. */
  elsewhere: (request: string) => boolean;
  /** Whether only the end of the answer to a request arrives. */
  mutes: (request: string) => boolean;
  /** A connection string that goes through the pooler. */
  through(url: string): string;
}

/** A message of the protocol: its type and all of its bytes. */
type Message = readonly [type: string, bytes: Buffer];

/** Messages as they are complete. */
async function* messagesOf(socket: Socket): AsyncGenerator<Message> {
  let rest = Buffer.alloc(0);
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const end = 1 + rest.readInt32BE(1);
      yield [rest.toString('latin1', 0, 1), rest.subarray(0, end)];
      rest = rest.subarray(end);
    }
  }
}

/** A session with the server. */
class Session {
  readonly client: Client;
  key: ProcessKey = { processID: 0, secretKey: 0 };
  #messages: AsyncGenerator<Message> | undefined;

  constructor(connectionString: string, options: string | undefined) {
    this.client = new Client({ connectionString, options: options ?? '' });
    this.client.on('error', () => {});
    this.client.connection.once('backendKeyData', (key: ProcessKey) => {
      this.key = key;
    });
  }

  /** Logs in. From then on the bytes are this test's, not the driver's. */
  async open(): Promise<void> {
    await this.client.connect();
    const { stream } = this.client.connection;
    this.#messages = messagesOf(stream.removeAllListeners('data').removeAllListeners('end') as Socket);
  }

  /** Sends a request, and gives the messages of its answer. */
  async ask(request: Buffer): Promise<readonly Message[]> {
    this.client.connection.stream.write(request);
    const answer: Message[] = [];
    for (;;) {
      const next = await this.#messages?.next();
      if (next === undefined || next.done) return answer;
      answer.push(next.value);
      if (next.value[0] === 'Z') return answer;
    }
  }
}

/** The state that the end of an answer tells: "I" is no transaction. */
const stateOf = (answer: readonly Message[]): string | undefined => answer.at(-1)?.[1].toString('latin1', 5);

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const ROLLBACK = message('Q', Buffer.from('ROLLBACK\0'));

export async function startFakePooler(): Promise<FakePooler> {
  const sockets = new Set<Socket>();
  const port = await freePort();
  let target = '';

  /** What a client sends first: its settings by name; it asks for no TLS. */
  async function welcome(socket: Socket): Promise<readonly Session[]> {
    const [first] = await once(socket, 'data');
    const words = first.toString('latin1', 8).split('\0');
    const settings = new Map<string, string>();
    for (let index = 0; index + 1 < words.length; index += 2) settings.set(words[index], words[index + 1]);
    const url = new URL(target);
    url.username = settings.get('user') ?? '';
    url.password = PASSWORD;
    url.pathname = settings.get('database') ?? '';
    const sessions = [1, 2].map(() => new Session(url.href, settings.get('options')));
    await Promise.all(sessions.map((session) => session.open()));
    return sessions;
  }

  async function serve(socket: Socket): Promise<void> {
    const [own, other] = await welcome(socket);
    if (own === undefined || other === undefined) return;
    try {
      const key = Buffer.alloc(8);
      key.writeInt32BE(own.key.processID, 0);
      key.writeInt32BE(own.key.secretKey, 4);
      socket.write(
        Buffer.concat([message('R', Buffer.alloc(4)), message('K', key), message('Z', Buffer.from('I'))]),
      );
      let request = Buffer.alloc(0);
      let ended = false;
      for await (const [type, bytes] of messagesOf(socket)) {
        if (type === 'X') return;
        request = Buffer.concat([request, bytes]);
        if (type !== 'Q' && type !== 'S') continue;
        if (ended) await own.ask(ROLLBACK);
        const text = request.toString('latin1');
        const answer = await (pooler.elsewhere(text) ? other : own).ask(request);
        ended = !pooler.keeps && stateOf(answer) !== 'I';
        const told = pooler.mutes(text) ? answer.filter(([kind]) => kind === 'Z') : answer;
        socket.write(Buffer.concat(told.map(([, all]) => all)));
        request = Buffer.alloc(0);
      }
    } finally {
      for (const { client } of [own, other]) client.connection.stream.destroy();
    }
  }

  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    serve(socket)
      .catch(() => {})
      .finally(() => socket.destroy());
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const pooler: FakePooler = {
    keeps: true,
    elsewhere: () => false,
    mutes: () => false,
    through(url) {
      target = url;
      return atPort(url, port);
    },
    [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return pooler;
}
