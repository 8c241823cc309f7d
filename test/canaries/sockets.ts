import { subscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import type { Canaries } from './canaries.ts';

/** Characters of an answer that are looked at again with the next piece: longer than any canary. */
const OVERLAP = 1_000;

/** How an answer begins, and an interim one. */
const VERSION = 'HTTP/1.';

/** The group is the class of the status. */
const STATUS_LINE = /^HTTP\/1\.[01] ([1-5])\d\d /;

/**
 * Watches every client socket that `net.connect` opens in this process from now on, those of `node:http` and
 * `fetch` among them: what is sent is kept, what comes back is searched. Nothing is delayed or changed.
 */
export function watchSockets(canaries: Canaries): void {
  subscribe('net.client.socket', (message) => {
    if (typeof message !== 'object' || message === null || !('socket' in message)) return;
    if (message.socket instanceof Socket) watch(message.socket, canaries);
  });
}

function watch(socket: Socket, canaries: Canaries): void {
  let isHttp = false;
  let isError = false;
  let seen = '';
  const keep = (chunk: unknown) => canaries.keepSent(textOf(chunk));
  // `connect` gives a socket its own `write` back, whatever was put there before.
  socket._write = calling(keep, socket._write);
  if (socket._writev !== undefined) socket._writev = calling(keep, socket._writev);
  socket.push = calling((chunk) => {
    for (const [index, rest] of `${seen}${textOf(chunk)}`.split(VERSION).entries()) {
      const piece = index === 0 ? rest : `${VERSION}${rest}`;
      const status = STATUS_LINE.exec(piece)?.[1];
      if (status !== undefined) {
        isHttp = true;
        isError = status >= '4';
      }
      // A database may tell its owner where it is.
      if (isHttp) canaries.searchAnswer(piece, isError);
      seen = piece.slice(-OVERLAP);
    }
  }, socket.push);
}

/** `method`, and before it `look` at its first argument. */
function calling<Method extends (...args: never[]) => unknown>(
  look: (first: unknown) => void,
  method: Method,
): Method {
  return new Proxy(method, {
    apply(target, self, args: Parameters<Method>) {
      look(args[0]);
      return Reflect.apply(target, self, args);
    },
  });
}

function textOf(chunk: unknown): string {
  if (typeof chunk === 'string') return chunk;
  if (Array.isArray(chunk))
    return chunk.map((each: { readonly chunk: unknown }) => textOf(each.chunk)).join('');
  return chunk instanceof Uint8Array
    ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString()
    : '';
}
