// A worker thread: opens the connections of a scenario, sends, and holds them until it is told to end.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

/** What the thread is given. */
export interface Orders {
  readonly port: number;
  /** Milliseconds between two that are opened. */
  readonly opensEveryMs: number;
  /** What each connection sends. */
  readonly bytes: readonly Uint8Array[];
  readonly reads: boolean;
  /** What each goes on sending, whatever it was answered: a byte a second, or all that TCP takes. */
  readonly goesOn?: 'drips' | 'floods';
}

/** What it says at the end: how many answers there were of each status, and how many connections are still open. */
export interface Outcome {
  readonly answers: Readonly<Record<string, number>>;
  readonly open: number;
}

const { port, opensEveryMs, bytes, reads, goesOn }: Orders = workerData;
const MORE = Buffer.alloc(65_536, 'x');
const answers: Record<string, number> = {};
const sockets: Socket[] = [];
let over = false;

parentPort?.once('message', () => {
  over = true;
  const outcome: Outcome = { answers, open: sockets.filter(({ destroyed }) => !destroyed).length };
  parentPort?.postMessage(outcome);
  for (const socket of sockets) socket.destroy();
});

for (const [index, each] of bytes.entries()) {
  if (over) break;
  open(index, each);
  if (opensEveryMs > 0) await pause(opensEveryMs);
}

function open(index: number, first: Uint8Array): void {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: goesOn !== undefined });
  sockets[index] = socket;
  // To be closed by the service is no fault.
  socket.on('error', () => {});
  if (reads) socket.setEncoding('latin1').on('data', count);
  else socket.pause();
  socket.write(first);
  if (goesOn === 'drips') {
    const dripping = setInterval(() => socket.write('x'), 1_000);
    socket.once('close', () => clearInterval(dripping));
  }
  if (goesOn === 'floods') {
    const flood = () => {
      while (!socket.destroyed && socket.write(MORE));
    };
    socket.on('drain', flood).once('close', () => over || open(index, first));
    flood();
  }
}

function count(text: string): void {
  for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3})/g))
    answers[status] = (answers[status] ?? 0) + 1;
}
