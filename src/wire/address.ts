import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { errorCode, messageOf } from '../lib/errors.ts';
import { OperatorError } from '../lib/operator-error.ts';
import type { GivenSocket } from './given-socket.ts';
import { makeFile, type SocketFile, whyNoFile } from './socket-file.ts';

/** The address of a listener: a host and a port, the file of a Unix socket, or a socket that came with the start. */
export type Address = TcpAddress | SocketFile | GivenSocket;

export interface TcpAddress {
  readonly host: string;
  /** 0 to 65535; 0 picks a free port. */
  readonly port: number;
  /** The settings that decide the port, for people. */
  readonly setting: string;
}

/** The address on which a server listens. */
export interface Bound {
  /** For example `http://127.0.0.1:5080` or `unix:/run/todo.sock`. */
  readonly url: string;
  /** Connections that the kernel may have completed and the server has not accepted. */
  readonly backlog: number;
  /** Removes the file of the socket, if there is one: nobody connects any more. Never throws. */
  readonly withdraw: () => void;
}

/** The number that Node.js asks for. */
const TCP_BACKLOG = 511;

/** The number of systemd. A full queue of a Unix socket refuses at once, and a given one is filled during a restart. */
const BACKLOG = 4096;

/**
 * Makes a server listen. A host with several addresses gets one of them (contract D13).
 *
 * @param stop Aborted when the start is stopped: nothing listens from then on.
 * @throws {OperatorError} `unavailable` when another program listens there, or the host has no address; `configuration` when the
 * process has no right to it, or what is there is no socket. Else the reason of `stop`.
 */
export function listenOn(server: Server, address: Address, stop?: AbortSignal): Promise<Bound> {
  const begin = async (listen: () => Server): Promise<void> => {
    stop?.throwIfAborted();
    // Only promises are between this and the end of the start, so that no connection is accepted before.
    await once(listen(), 'listening');
  };
  if ('fd' in address) return onGiven(server, address, begin);
  return 'path' in address ? onFile(server, address, begin) : onHost(server, address, begin);
}

type Begin = (listen: () => Server) => Promise<void>;

async function onHost(server: Server, { host, port, setting }: TcpAddress, begin: Begin): Promise<Bound> {
  try {
    const found = (await lookup(host, { all: true })).map(({ address }) => address);
    const address = found.includes('127.0.0.1') ? '127.0.0.1' : (found[0] ?? host);
    await begin(() => server.listen(port, address, TCP_BACKLOG));
  } catch (cause) {
    const taken = `another program has that port: choose another one with ${setting}`;
    throw asOperatorError(cause, `${host} port ${port}`, {
      EADDRINUSE: taken,
      EACCES: noRight(port, setting),
    });
  }
  return { url: urlOf(server) ?? '', backlog: TCP_BACKLOG, withdraw() {} };
}

function noRight(port: number, setting: string): string {
  const fault = 'the process has no right to that port';
  if (port > 1023)
    return (
      `${fault}, although it is above 1023: net.ipv4.ip_unprivileged_port_start, SELinux or another security module ` +
      `forbids it. Choose another one with ${setting}, or have that one allowed`
    );
  return (
    `${fault}: choose one above 1023 with ${setting}, behind a proxy, or let systemd give it (todo-service.socket, or ` +
    'AmbientCapabilities=CAP_NET_BIND_SERVICE with PrivateUsers=no)'
  );
}

async function onFile(server: Server, file: SocketFile, begin: Begin): Promise<Bound> {
  try {
    const withdraw = await makeFile(file, (name) => begin(() => server.listen(name, BACKLOG)));
    return { url: `unix:${file.path}`, backlog: BACKLOG, withdraw };
  } catch (cause) {
    server.close();
    throw asOperatorError(cause, file.path, { EACCES: whyNoFile(file) });
  }
}

async function onGiven(server: Server, { fd, name }: GivenSocket, begin: Begin): Promise<Bound> {
  try {
    // As an option, the backlog would not count beside a descriptor.
    await begin(() => server.listen({ fd }, BACKLOG));
  } catch (cause) {
    throw asOperatorError(cause, name, { EINVAL: 'LISTEN_FDS must give a TCP or Unix socket that listens' });
  }
  return { url: urlOf(server) ?? name, backlog: BACKLOG, withdraw() {} };
}

/** Undefined for a Unix socket. */
function urlOf(server: Server): string | undefined {
  const bound = server.address();
  if (bound === null || typeof bound === 'string') return undefined;
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
}

/** The error of an attempt to listen, for people; any other as it is. */
function asOperatorError(cause: unknown, where: string, reasons: Readonly<Record<string, string>>): unknown {
  const code = errorCode(cause);
  if (code === undefined) return cause;
  const kind = code === 'EACCES' || code === 'EINVAL' ? 'configuration' : 'unavailable';
  return new OperatorError(kind, `cannot listen on ${where}: ${reasons[code] ?? messageOf(cause)}`, {
    cause,
  });
}
