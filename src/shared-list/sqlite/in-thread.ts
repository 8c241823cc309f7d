import { parentPort, type Transferable, workerData } from 'node:worker_threads';
import type { KnownFile } from './known-file.ts';
import type { Message } from './thread.ts';

/** What a thread does. */
export interface Service<Order, Answer> extends Disposable {
  /** What is named in `transfer` is moved to the main thread instead of copied. */
  answer(order: Order): { readonly answer: Answer; readonly transfer?: Transferable[] };
}

/**
 * The other end of `Thread`: opens the service for the file and answers orders until it is told to close.
 * Messages arrive in the order in which they are sent here.
 */
export function serveThread<Order, Answer, News>(
  open: (file: KnownFile, onNews: (news: News) => void) => Service<Order, Answer>,
): void {
  const port = parentPort;
  if (port === null) throw new Error('This module is the entry of a worker thread');
  const post = (message: Message<Answer, News>, transfer: Transferable[] = []): void =>
    port.postMessage(message, transfer);
  const service = open(workerData, (news) => post({ news }));
  port.on('message', (order: Order | 'close') => {
    if (order === 'close') {
      service[Symbol.dispose]();
      port.close();
      return;
    }
    const { answer, transfer } = service.answer(order);
    post({ answer }, transfer);
  });
  post('ready');
}
