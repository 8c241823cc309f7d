import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';

/** A certificate that is not the database's. */
const [key, cert] = ['key', 'pem'].map((ending) =>
  readFileSync(new URL(`../auth/tls/test-only-issuer.${ending}`, import.meta.url)),
);

/** The request for TLS: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** Listens on a free port, answers the request for TLS, unless it is plain, and hands over each stream. */
async function listen(onStream: (stream: Socket) => Promise<void>, plain = false) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    if (plain) return void onStream(socket);
    socket.once('data', () => {
      socket.write('S');
      const stream = new TLSSocket(socket, { isServer: true, key, cert });
      void onStream(stream.on('error', () => {}));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Stands between a client and the server on a port, reads what both say, and passes it on. */
export function startMiddleman(target: number) {
  return listen(async (stream) => {
    const socket = connect(target, '127.0.0.1').on('error', () => stream.destroy());
    socket.write(SSL_REQUEST);
    await once(socket, 'data');
    const upstream = connectTls({ socket, rejectUnauthorized: false }).on('error', () => stream.destroy());
    stream.pipe(upstream).pipe(stream);
  });
}

function message(type: string, ...parts: readonly (number | string)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(part);
      const number = Buffer.alloc(4);
      number.writeInt32BE(part);
      return number;
    }),
  );
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** What a server may say at a login. */
const SAYINGS = {
  trust: () => message('R', 0),
  cleartext: () => message('R', 3),
  md5: () => message('R', 5, 'salt'),
  scram: () => message('R', 10, 'SCRAM-SHA-256\0\0'),
  gssapi: () => message('R', 7),
  sspi: () => message('R', 9),
  unheard: () => message('R', 77),
  oauth: () => message('R', 10, 'OAUTHBEARER\0\0'),
  plus: () => message('R', 10, 'SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0'),
  challenge: (nonce: string) => message('R', 11, `r=${nonce}more,s=c2FsdA==,i=4096`),
  verified: () => message('R', 12, 'v=AAAA'),
  ready: () => message('Z', 'I'),
  // The driver reads on in the next message, and finds an end there.
  endless: () => message('E', 'SFATAL\0C53300\0Mconnection refused\0'),
  http: () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
};

export type Saying = keyof typeof SAYINGS;

/** What the driver reads to its end, whatever comes behind it. */
export const ALL_SAYINGS = (Object.keys(SAYINGS) as readonly Saying[]).filter((said) => said !== 'endless');

/**
 * A server that knows no password, and says what it is told to whoever comes: all at once, but after a `plus` only when
 * the client has answered it.
 */
export async function startImpostor(plain = false) {
  let now: { readonly script: readonly Saying[]; heard: string } = { script: [], heard: '' };
  const server = await listen(async (stream) => {
    // What comes late, as a farewell does, is of the script that its connection began with.
    const own = now;
    await once(stream, 'data');
    stream.on('data', (data) => {
      own.heard += data.toString('latin1');
    });
    let saying = Buffer.alloc(0);
    for (const [at, said] of own.script.entries()) {
      if (own.script[at - 1] === 'plus') {
        stream.write(saying);
        saying = Buffer.alloc(0);
        await Promise.race([once(stream, 'data'), once(stream, 'close')]);
      }
      const nonce = /r=(\S+)/.exec(own.heard)?.[1];
      saying = Buffer.concat([saying, SAYINGS[said](nonce ?? '')]);
    }
    stream.write(saying);
  }, plain);
  return {
    ...server,
    /** Says this to those who connect from now on, and forgets what it has heard. */
    say(...script: readonly Saying[]): void {
      now = { script, heard: '' };
    },
    /** What clients have sent behind their startup packet. */
    heard: () => now.heard,
  };
}
