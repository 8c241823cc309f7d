// A worker thread: opens the connections of a scenario, sends, and holds them until it is told to end.
import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** What the thread is given. */
export interface Orders {
  readonly port: number;
  readonly connections: number;
  readonly bytes: Uint8Array;
  readonly reads: boolean;
}

/** What it says at the end: how many answers there were of each status, and how many connections are still open. */
export interface Outcome {
  readonly answers: Readonly<Record<string, number>>;
  readonly open: number;
}

const { port, connections, bytes, reads }: Orders = workerData;
const answers: Record<string, number> = {};
const sockets = Array.from({ length: connections }, open);

parentPort?.once('message', () => {
  const outcome: Outcome = { answers, open: sockets.filter(({ destroyed }) => !destroyed).length };
  parentPort?.postMessage(outcome);
  for (const socket of sockets) socket.destroy();
});

function open(): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  // To be closed by the service is no fault.
  socket.on('error', () => {});
  if (reads) socket.setEncoding('latin1').on('data', count);
  else socket.pause();
  socket.write(bytes);
  return socket;
}

function count(text: string): void {
  for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3})/g))
    answers[status] = (answers[status] ?? 0) + 1;
}
