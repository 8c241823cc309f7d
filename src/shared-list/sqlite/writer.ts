import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { OutcomeUnknown, StoreUnavailable } from '../store.ts';
import type { BatchResult, Failure, Outcome, Outcomes, Write } from './batch.ts';

/** What the thread is told: a batch to commit, or to close the file and end. */
export type Order = readonly Write[] | 'close';

/**
 * What the thread says: that it has opened the file, that another program changed it, and what came of each
 * batch, in order.
 */
export type Report = 'ready' | 'changed-elsewhere' | BatchResult;

/** Who wants to know about batches before those do that wait for their writes. */
export interface Watcher {
  /** A batch leaves: from now on its changes may become visible. */
  leaving(writes: readonly Write[]): void;
  /** The batch is settled. The next may leave at once, and then `known` of each of its writes is called. */
  settled(): void;
  /** A batch failed, or another program changed something: nothing is certain but the database. */
  lost(): void;
}

interface Waiting {
  readonly write: Write;
  settle(outcome: Exclude<Outcome, object>): void;
  fail(error: unknown): void;
}

// `tsc` rewrites the extension of an import, but not of a URL.
const THREAD = new URL(`./writer-thread${import.meta.url.slice(-3)}`, import.meta.url);

/**
 * Hands writes to a thread that commits them, so that a slow disk never delays the main thread. One batch is
 * under way at a time; what arrives meanwhile makes the next one and shares its sync.
 */
export class Writer implements AsyncDisposable {
  readonly #file: string;
  readonly #watcher: Watcher;
  #thread: Worker | undefined;
  #ready = false;
  #closing = false;
  #scheduled = false;
  #next: Waiting[] = [];
  #underWay: Waiting[] = [];

  constructor(file: string, watcher: Watcher) {
    this.#file = file;
    this.#watcher = watcher;
    this.#thread = this.#start();
  }

  /**
   * Resolves when what was decided is on disk, with what `known` makes of the outcome. All `known` of a batch
   * are called in the order of its writes, before anybody else runs.
   */
  write<W extends Write, T>(write: W, known: (outcome: Outcomes[W['kind']]) => T): Promise<T> {
    return new Promise((resolve, fail) => {
      const settle = (outcome: Outcomes[W['kind']]): void => {
        try {
          resolve(known(outcome));
        } catch (error) {
          fail(error);
        }
      };
      this.#next.push({ write, settle, fail });
      if (this.#scheduled) return;
      this.#scheduled = true;
      // Later than every request that the event loop finds ready in this turn: they share a batch.
      setImmediate(() => {
        this.#scheduled = false;
        this.#send();
      });
    });
  }

  /** Every write is settled, and the file closed, when it resolves. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    const thread = this.#thread;
    this.#send();
    if (thread !== undefined) await once(thread, 'exit');
  }

  #start(): Worker {
    const thread = new Worker(THREAD, { workerData: this.#file });
    let cause: unknown;
    thread.on('message', (report: Report) => this.#hear(report));
    thread.on('error', (error) => {
      cause = error;
    });
    thread.on('exit', () => this.#end(cause));
    return thread;
  }

  #send(): void {
    if (this.#underWay.length > 0) return;
    this.#underWay = this.#next;
    this.#next = [];
    if (this.#underWay.length > 0) {
      const writes = this.#underWay.map(({ write }) => write);
      this.#watcher.leaving(writes);
      this.#tell(writes);
    } else if (this.#closing) this.#tell('close');
  }

  #tell(order: Order): void {
    this.#thread ??= this.#start();
    this.#thread.postMessage(order);
  }

  #hear(report: Report): void {
    if (report === 'ready') this.#ready = true;
    else if (report === 'changed-elsewhere') this.#watcher.lost();
    else if ('failure' in report) this.#fail(failureOf(report));
    else this.#settle(report.outcomes);
  }

  #settle(outcomes: readonly Outcome[]): void {
    const answered = this.#underWay;
    this.#underWay = [];
    this.#watcher.settled();
    this.#send();
    for (const [index, outcome] of outcomes.entries()) {
      if (typeof outcome === 'object') answered[index]?.fail(new Error(outcome.error));
      else answered[index]?.settle(outcome);
    }
  }

  #fail(error: Error): void {
    const told = this.#underWay;
    this.#underWay = [];
    this.#watcher.settled();
    this.#watcher.lost();
    for (const { fail } of told) fail(error);
    this.#send();
  }

  /** A thread that ended by itself is started anew by the next batch. */
  #end(cause: unknown): void {
    const message = 'The thread that writes to the database ended';
    const error = this.#ready
      ? new OutcomeUnknown(message, { cause })
      : new StoreUnavailable(message, { cause });
    this.#thread = undefined;
    this.#ready = false;
    if (!this.#closing || this.#underWay.length > 0) this.#fail(error);
  }
}

function failureOf({ failure, message }: Failure): Error {
  switch (failure) {
    case 'unavailable':
      return new StoreUnavailable(message);
    case 'unknown':
      return new OutcomeUnknown(message);
    case 'error':
      return new Error(message);
  }
}
