import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { OutcomeUnknown, StoreUnavailable } from '../store.ts';
import type { BatchResult, Failure, Outcome, Outcomes, Write } from './batch.ts';

/** What the thread is told: a batch to commit, or to close the file and end. */
export type Order = readonly Write[] | 'close';

/** What the thread says: once that it has opened the file, then what came of each batch, in order. */
export type Report = 'ready' | BatchResult;

interface Waiting {
  readonly write: Write;
  settle(outcome: Exclude<Outcome, object>): void;
  fail(error: Error): void;
}

// `tsc` rewrites the extension of an import, but not of a URL.
const THREAD = new URL(`./writer-thread${import.meta.url.slice(-3)}`, import.meta.url);

/**
 * Hands writes to a thread that commits them, so that a slow disk never delays the main thread. One batch is
 * under way at a time; what arrives meanwhile makes the next one and shares its sync.
 */
export class Writer implements AsyncDisposable {
  readonly #file: string;
  #thread: Worker | undefined;
  #ready = false;
  #closing = false;
  #scheduled = false;
  #next: Waiting[] = [];
  #underWay: Waiting[] = [];

  constructor(file: string) {
    this.#file = file;
    this.#thread = this.#start();
  }

  /** Resolves when what was decided is on disk. */
  write<W extends Write>(write: W): Promise<Outcomes[W['kind']]> {
    type Decided = Outcomes[W['kind']];
    return new Promise<Decided>((settle: (outcome: Decided) => void, fail) => {
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
    if (this.#thread === undefined) return;
    const ended = once(this.#thread, 'exit');
    this.#send();
    await ended;
  }

  #start(): Worker {
    const thread = new Worker(THREAD, { workerData: this.#file });
    let cause: unknown;
    thread.on('message', (report: Report) => this.#hear(report));
    thread.on('error', (error) => {
      cause = error;
    });
    thread.on('exit', () => this.#lose(cause));
    return thread;
  }

  #send(): void {
    if (this.#underWay.length > 0) return;
    this.#underWay = this.#next;
    this.#next = [];
    if (this.#underWay.length > 0) this.#tell(this.#underWay.map(({ write }) => write));
    else if (this.#closing) this.#tell('close');
  }

  #tell(order: Order): void {
    this.#thread ??= this.#start();
    this.#thread.postMessage(order);
  }

  #hear(report: Report): void {
    if (report === 'ready') {
      this.#ready = true;
      return;
    }
    const answered = this.#underWay;
    this.#underWay = [];
    this.#send();
    if ('failure' in report) {
      const error = failureOf(report);
      for (const { fail } of answered) fail(error);
      return;
    }
    for (const [index, outcome] of report.outcomes.entries()) {
      if (typeof outcome === 'object') answered[index]?.fail(new Error(outcome.error));
      else answered[index]?.settle(outcome);
    }
  }

  /** A thread that ended by itself is started anew by the next batch. */
  #lose(cause: unknown): void {
    const told = this.#underWay;
    const message = 'The thread that writes to the database ended';
    const error = this.#ready
      ? new OutcomeUnknown(message, { cause })
      : new StoreUnavailable(message, { cause });
    this.#thread = undefined;
    this.#ready = false;
    this.#underWay = [];
    for (const { fail } of told) fail(error);
    if (this.#next.length > 0) this.#send();
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
