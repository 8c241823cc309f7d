import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';

const clients = new Set<Socket>();
subscribe('net.client.socket', (message) => {
  if (typeof message !== 'object' || message === null || !('socket' in message)) return;
  const { socket } = message;
  if (!(socket instanceof Socket)) return;
  clients.add(socket);
  socket.once('close', () => clients.delete(socket));
});

/**
 * Closes every connection of this process to a service that a test is done with. A service that stops gives those that
 * were just answered up to 2 s, and `fetch` keeps its own open.
 */
export function leave(...urls: readonly string[]): void {
  const ports = urls.map((url) => new URL(url).port);
  for (const socket of clients) if (ports.includes(`${socket.remotePort}`)) socket.destroy();
}

/** Sends the bytes of a request to a service in this process, and resets the connection in the turn after it has begun. */
export async function sendAndLeave(socket: Socket, bytes: string | Buffer): Promise<void> {
  const { promise: begun, resolve } = Promise.withResolvers<unknown>();
  subscribe('http.server.request.start', resolve);
  socket.write(bytes);
  await begun;
  unsubscribe('http.server.request.start', resolve);
  await setImmediate();
  socket.resetAndDestroy();
}
