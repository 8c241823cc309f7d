import { isIP } from 'node:net';
import { Client } from 'pg';
import type { Address } from './address.ts';

declare module 'pg' {
  /** What the driver's types leave out. */
  interface Connection {
    connect(portOrPath: number | string, address?: string): void;
    requestSsl(): void;
    cancel(processID: number, secretKey: number): void;
    /** Reads what the server says, as soon as it is no longer about TLS. */
    attachListeners(stream: Connection['stream']): void;
  }
}

/** A server process, what it must be told to give up what it does, and how it is reached. */
export interface ServerProcess {
  readonly processID: number;
  readonly secretKey: number;
  /** Of its socket; or the port at `address`, that which the connection itself reached: a name may mean another server by now. */
  readonly portOrPath: number | string;
  readonly address?: string;
  /** What the certificate must be for. */
  readonly host: string;
  readonly config: Pick<Address['config'], 'ssl' | 'sslnegotiation'>;
}

/** Milliseconds for one request: the server reads it, sends a signal, and closes the connection. */
const CANCEL_WAIT_MS = 2_000;

/**
 * Asks a server to give up what one of its processes does, over a connection of its own, encrypted where the first is.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 *
 * @returns `delivered`: the server has read it, and its signal is sent. `unreachable`: no connection could be made.
 * `unanswered`: there is a connection, and the server does not react.
 */
export function cancel(process: ServerProcess): Promise<'delivered' | 'unreachable' | 'unanswered'> {
  const { host, config } = process;
  const name = isIP(host) === 0 ? { servername: host } : {};
  // The driver hides the key from a copy.
  const ssl = config.ssl && { ...config.ssl, key: config.ssl.key, host, ...name };
  const { connection } = new Client({ ...config, ssl });
  // It has nothing to say: the driver would throw at what it does not understand.
  connection.attachListeners = (stream) => void stream.resume();
  return new Promise((resolve) => {
    let outcome: 'delivered' | 'unreachable' | 'unanswered' = 'unreachable';
    const timer = setTimeout(() => connection.stream.destroy(), CANCEL_WAIT_MS);
    const send = (): void => {
      // The server says nothing: it closes the connection when its signal is sent.
      connection.stream.once('end', () => {
        outcome = 'delivered';
      });
      connection.cancel(process.processID, process.secretKey);
    };
    connection.once('connect', () => {
      outcome = 'unanswered';
      if (ssl === false) send();
      else if (config.sslnegotiation === 'postgres') connection.requestSsl();
    });
    connection.once('sslconnect', () => connection.stream.once('secureConnect', send));
    connection.on('error', () => connection.stream.destroy());
    connection.once('end', () => {
      clearTimeout(timer);
      resolve(outcome);
    });
    connection.connect(process.portOrPath, process.address);
  });
}
