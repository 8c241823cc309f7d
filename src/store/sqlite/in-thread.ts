import type { DatabaseSync } from 'node:sqlite';
import { parentPort, type Transferable, workerData } from 'node:worker_threads';
import { type KnownFile, openKnown } from './known-file.ts';
import type { Message } from './thread.ts';

/** What is named in `transfer` is moved to the main thread instead of copied. */
type Serve<Order, Answer> = (order: Order) => {
  readonly answer: Answer;
  readonly transfer?: Transferable[];
};

/**
 * The other end of `Thread`: opens the file, which may be locked by another program for `busyTimeoutMs`, and answers
 * orders until it is told to close. Messages arrive in the order in which they are sent here.
 */
export function serveThread<Order, Answer>(
  busyTimeoutMs: number,
  prepare: (database: DatabaseSync, file: KnownFile, onChanged: () => void) => Serve<Order, Answer>,
): void {
  const port = parentPort;
  if (port === null) throw new Error('This module is the entry of a worker thread');
  const post = (message: Message<Answer>, transfer: Transferable[] = []): void =>
    port.postMessage(message, transfer);
  const file: KnownFile = workerData;
  const database = openKnown(file, busyTimeoutMs);
  const serve = prepare(database, file, () => post('changed'));
  port.on('message', (order: Order | 'close') => {
    if (order === 'close') {
      database.close();
      port.close();
      return;
    }
    const { answer, transfer } = serve(order);
    post({ answer }, transfer);
  });
  post('ready');
}
