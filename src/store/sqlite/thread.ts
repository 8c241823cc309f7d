import type { DatabaseSync } from 'node:sqlite';
import { parentPort, type Transferable, type Worker, workerData } from 'node:worker_threads';
import { startThread } from '../../assets.ts';
import { type Failure, failureBy, isDamage } from './error.ts';
import { type KnownFile, openKnown } from './file.ts';

/** What a thread says: that it has opened the file, that another program may have changed it, or its answer. */
type Message<Answer> = 'ready' | 'changed' | { readonly answer: Answer };

/** Hears what the thread does unasked. */
export interface Listener {
  /** Another program changed the file, or may have changed it before the thread began. */
  changed?(): void;
  /** The thread ended by itself; not `ready`: it could not even begin. */
  ended?(ready: boolean): void;
}

/**
 * A worker thread with a database connection of its own, one order at a time. It is started by `start` or by
 * its first order; one that ended by itself is started anew by the next, one that was closed never.
 */
export class Thread<Order, Answer> implements AsyncDisposable {
  readonly #entry: URL;
  readonly #file: KnownFile;
  readonly #ended: 'unavailable' | 'unknown';
  readonly #listener: Listener;
  #worker: Worker | undefined;
  #ready = false;
  #closed: Promise<void> | undefined;
  #asked: PromiseWithResolvers<Answer | Failure> | undefined;

  /** @param ended What becomes of an order whose thread ends under way: nothing, or an unknown change. */
  constructor(entry: URL, file: KnownFile, ended: 'unavailable' | 'unknown', listener: Listener = {}) {
    this.#entry = entry;
    this.#file = file;
    this.#ended = ended;
    this.#listener = listener;
  }

  /** Does nothing when it runs already. */
  start(): void {
    if (this.#worker !== undefined) return;
    const worker = startThread(this.#entry, { workerData: this.#file });
    let cause: unknown;
    worker.on('message', (message: Message<Answer>) => this.#hear(message));
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => this.#end(cause));
    this.#worker = worker;
  }

  /** Never rejects: a thread that ended, or was closed before, is a failure. */
  ask(order: Order): Promise<Answer | Failure> {
    if (this.#closed !== undefined) {
      return Promise.resolve({ failure: 'unavailable', message: `The thread ${this.#name} was closed` });
    }
    this.#asked = Promise.withResolvers<Answer | Failure>();
    this.start();
    this.#worker?.postMessage(order);
    return this.#asked.promise;
  }

  /**
   * The file is closed when it resolves; an order that is under way is answered before. Never rejects: a thread
   * that fails while it closes has closed.
   */
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

  #hear(message: Message<Answer>): void {
    if (message === 'ready') this.#ready = true;
    else if (message === 'changed') this.#listener.changed?.();
    else this.#asked?.resolve(message.answer);
  }

  #end(cause: unknown): void {
    const ready = this.#ready;
    const message = `The thread ${this.#name} ended by itself`;
    const isDamaged = !ready && isDamage(cause);
    this.#asked?.resolve(
      isDamaged ? failureBy(cause) : { failure: ready ? this.#ended : 'unavailable', message },
    );
    this.#worker = undefined;
    this.#ready = false;
    if (this.#closed === undefined) this.#listener.ended?.(ready);
  }
}

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
