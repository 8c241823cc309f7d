import { connect as connectTcp, isIP, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Address, Host } from './address.ts';

/** A server process, and the key that a request to cancel must have. */
export interface ProcessKey {
  readonly processID: number;
  readonly secretKey: number;
}

export type ServerProcess = NonNullable<ReturnType<typeof processOf>>;

/**
 * The process at the other end of a stream, or undefined when that is closed. `target` is the address that the connection
 * itself reached: a name may mean another server by now. `host` is that of the certificate.
 */
export function processOf(
  key: ProcessKey,
  stream: Duplex,
  { host, port }: Host,
  { ssl: tls, sslnegotiation: negotiation }: Address['config'],
) {
  const server = { ...key, host, tls, negotiation };
  if (host.startsWith('/')) return { ...server, target: { path: `${host}/.s.PGSQL.${port}` } };
  const address = stream instanceof Socket ? stream.remoteAddress : undefined;
  return address === undefined ? undefined : { ...server, target: { host: address, port } };
}

/** Milliseconds for one request: the server reads it, sends a signal, and closes the connection. */
const CANCEL_WAIT_MS = 2_000;

// https://www.postgresql.org/docs/current/protocol-message-formats.html
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const CANCEL_REQUEST_CODE = 80_877_102;

/**
 * Asks a server to cancel the statement of one of its processes, over a connection of its own, encrypted where the first
 * is.
 *
 * @returns `delivered`: the server has read it, and its signal is sent. `unreachable`: no connection could be made.
 * `unanswered`: there is a connection, and the server does not react.
 */
export function cancel(process: ServerProcess): Promise<'delivered' | 'unreachable' | 'unanswered'> {
  return new Promise((resolve) => {
    let reached = false;
    let delivered = false;
    const socket = connectTcp(process.target);
    const timer = setTimeout(() => socket.destroy(), CANCEL_WAIT_MS);
    const send = (stream: Socket): void => {
      // The server sends no answer: it closes the connection when its signal is sent.
      stream
        .on('error', () => {})
        .once('end', () => {
          delivered = true;
        });
      stream.resume().write(requestOf(process));
    };
    const encrypt = (tls: ConnectionOptions): void => {
      const { host, negotiation } = process;
      const name = isIP(host) === 0 ? { servername: host } : {};
      const alpn = negotiation === 'direct' ? { ALPNProtocols: ['postgresql'] } : {};
      // The driver hides the key from a copy.
      const stream = connectTls({ ...tls, key: tls.key, ...name, ...alpn, host, socket }, () => send(stream));
      stream.on('error', () => socket.destroy());
    };
    socket.once('connect', () => {
      reached = true;
      const { tls } = process;
      if (tls === false) return send(socket);
      if (process.negotiation === 'direct') return encrypt(tls);
      // Any answer but "S" means no TLS, and a key is never sent in the clear.
      socket.once('data', (answer) => {
        if (answer.toString('latin1') === 'S') encrypt(tls);
        else socket.destroy();
      });
      socket.write(SSL_REQUEST);
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(timer);
      if (delivered) resolve('delivered');
      else resolve(reached ? 'unanswered' : 'unreachable');
    });
  });
}

function requestOf({ processID, secretKey }: ServerProcess): Buffer {
  const request = Buffer.alloc(16);
  request.writeInt32BE(16, 0);
  request.writeInt32BE(CANCEL_REQUEST_CODE, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  return request;
}
