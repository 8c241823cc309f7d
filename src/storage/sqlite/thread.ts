import type { DatabaseSync } from 'node:sqlite';
import { parentPort, type Transferable, type Worker, workerData } from 'node:worker_threads';
import { startThread } from '../../lib/assets.ts';
import { type Failure, failureBy, machineReason } from './error.ts';
import { type KnownFile, openKnown } from './file.ts';

/** A message of a thread: another program may have changed the file, or an answer. */
type Message<Answer> = 'changed' | { readonly answer: Answer };

/**
 * A worker thread with a database connection of its own, one order at a time. `start` or the first order starts it. A
 * thread that ended by itself is started again by the next order, a writing one at once, a closed one never.
 */
export class Thread<Order, Answer> implements AsyncDisposable {
  readonly #entry: URL;
  readonly #file: KnownFile;
  readonly #onChanged: (() => void) | undefined;
  #worker: Worker | undefined;
  /** Whether the thread is one that writes and has opened the file: an order without an answer may be on disk. */
  #mayHaveWritten = false;
  #closed: Promise<void> | undefined;
  #asked: PromiseWithResolvers<Answer | Failure> | undefined;

  /**
   * @param onChanged Given for a thread that writes. Called when another program changed the file, or may have done so
   * unnoticed, as at the start. Such a thread is started again at once; the outcome of its order is unknown then.
   */
  constructor(entry: URL, file: KnownFile, onChanged?: () => void) {
    this.#entry = entry;
    this.#file = file;
    this.#onChanged = onChanged;
  }

  /** Starts the thread, unless it runs. Never throws: a thread that was closed or cannot be started is a failure. */
  start(): Failure | undefined {
    if (this.#closed !== undefined)
      return { failure: 'unavailable', message: `The thread ${this.#name} was closed` };
    if (this.#worker !== undefined) return undefined;
    let worker: Worker;
    try {
      worker = startThread(this.#entry, { workerData: this.#file });
    } catch (error) {
      const message = `The thread ${this.#name} cannot be started: ${machineReason(error)}`;
      return { failure: 'unavailable', message };
    }
    let cause: unknown;
    worker.on('message', (message: Message<Answer>) => {
      if (message !== 'changed') return this.#asked?.resolve(message.answer);
      this.#mayHaveWritten = true;
      this.#onChanged?.();
    });
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => this.#end(cause));
    this.#worker = worker;
    return undefined;
  }

  /** Gives the thread an order. Never rejects: a thread that ended, or as `start`, is a failure. */
  ask(order: Order): Promise<Answer | Failure> {
    const failure = this.start();
    if (failure !== undefined) return Promise.resolve(failure);
    this.#asked = Promise.withResolvers<Answer | Failure>();
    this.#worker?.postMessage(order);
    return this.#asked.promise;
  }

  /** Closes the thread, and its file, after the order under way. Never rejects: a thread that fails then has closed. */
  [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#worker;
    this.#closed ??= new Promise((resolve) => {
      if (worker === undefined) return resolve();
      worker.once('exit', () => resolve());
      worker.postMessage('close');
    });
    return this.#closed;
  }

  get #name(): string | undefined {
    return this.#entry.pathname.split('/').at(-1);
  }

  #end(cause: unknown): void {
    const mayHaveWritten = this.#mayHaveWritten;
    const reason = cause === undefined ? '' : `: ${machineReason(cause)}`;
    const message = `The thread ${this.#name} ended by itself${reason}`;
    const known = failureBy(cause);
    if (!mayHaveWritten && known.state !== undefined) this.#asked?.resolve(known);
    else this.#asked?.resolve({ failure: mayHaveWritten ? 'unknown' : 'unavailable', message });
    this.#worker = undefined;
    this.#mayHaveWritten = false;
    if (this.#closed !== undefined) return;
    this.#onChanged?.();
    // A thread that could not even start is not restarted here: the next order starts it.
    if (mayHaveWritten) this.start();
  }
}

/**
 * The other end of `Thread`: opens the file, which may be locked by another program for `busyTimeoutMs`, and answers
 * orders until it is told to close. Messages arrive in the order in which they are sent here. Does nothing outside of a
 * thread, so that its module can be imported.
 *
 * @param prepare Objects in its `transfer` are moved to the main thread instead of copied.
 */
export function serveThread<Order, Answer>(
  busyTimeoutMs: number,
  prepare: (
    database: DatabaseSync,
    file: KnownFile,
    onChanged: () => void,
  ) => (order: Order) => { readonly answer: Answer; readonly transfer?: Transferable[] },
): void {
  const port = parentPort;
  if (port === null) return;
  const file: KnownFile = workerData;
  const database = openKnown(file, busyTimeoutMs);
  const serve = prepare(database, file, () => port.postMessage('changed' satisfies Message<Answer>));
  port.on('message', (order: Order | 'close') => {
    if (order === 'close') {
      database.close();
      port.close();
      return;
    }
    const { answer, transfer = [] } = serve(order);
    port.postMessage({ answer } satisfies Message<Answer>, transfer);
  });
}
