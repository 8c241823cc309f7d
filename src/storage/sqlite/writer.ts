import { setImmediate as turn } from 'node:timers/promises';
import type { Commit } from '../../events.ts';
import type { OnCommitted } from '../../shared-list/store.ts';
import { errorOf, type Failure } from './error.ts';
import type { DatabaseHealth } from './health.ts';
import { Thread } from './thread.ts';
import type { BatchResult, Decided, Outcome, Write } from './writer-thread.ts';

/** The changes of a batch. From its sending to its end, some readers may see them and others not. */
export interface UnderWay {
  /** Ids of the todos that the batch replaces or removes. */
  readonly ids: ReadonlySet<number>;
  /** Whether the batch adds todos. */
  readonly adds: boolean;
}

/** Ids of changed todos; `all` when another program changed something, or the outcome of a batch is unknown. */
export type Changed = readonly number[] | 'all';

interface Waiting {
  readonly write: Write;
  readonly onCommitted: OnCommitted | undefined;
  resolve(outcome: Decided | PromiseLike<Decided>): void;
  reject(error: unknown): void;
}

const THREAD = new URL('./writer-thread.ts', import.meta.url);

/** Milliseconds. The start of the thread takes as long as the service's: the first answer comes before it. */
const START_DELAY_MS = 100;

/** Milliseconds. For so long, a commit proves that the disk takes writes. */
const PROOF_MS = 5_000;

/**
 * Hands writes to a thread that commits them, so that a slow disk never delays the main thread. One batch is under way at
 * a time; writes that arrive meanwhile are the next batch and share its sync.
 *
 * Caches hear of a batch before it is sent. At its end, caches hear first and its writers last, in the order of the
 * batch: `test/storage/sqlite-reads.test.ts`, `test/storage/contract.ts`, `test/telemetry/audit.test.ts`.
 */
export class Writer implements AsyncDisposable {
  readonly underWay = { ids: new Set<number>(), adds: false };
  readonly #thread: Thread<readonly Write[], BatchResult>;
  readonly #onChanged: (changed: Changed) => void;
  readonly #health: DatabaseHealth;
  #next: Waiting[] = [];
  /** Resolves when nothing is left to send; undefined when the writer is idle. */
  #running: Promise<void> | undefined;
  /** The time of the last commit, of `performance.now()`; minus infinity when it failed. */
  #committedAt = Number.NEGATIVE_INFINITY;

  /** @param onChanged Called before a batch is answered; with 'all' when another program may have changed the file. */
  constructor(health: DatabaseHealth, onChanged: (changed: Changed) => void) {
    this.#health = health;
    this.#onChanged = onChanged;
    this.#thread = new Thread(THREAD, health.file, () => onChanged('all'));
    setTimeout(() => this.#thread.start(), START_DELAY_MS).unref();
  }

  /**
   * Resolves when the write is on disk. The promises of a batch settle in the order of the writes, whatever their kinds,
   * so that the log has the order of the commits. Nothing is written once the writer is closed.
   *
   * @param onCommitted Gets the commit of its batch, when that changed something.
   */
  write<W extends Write>(write: W, onCommitted?: OnCommitted): Promise<Decided<W['kind']>> {
    this.#running ??= this.#run();
    const { promise, resolve, reject } = Promise.withResolvers<Decided<W['kind']>>();
    this.#next.push({ write, onCommitted, resolve, reject });
    return promise;
  }

  /** Resolves when writes reach the disk, by a recent commit or a write without a change. Rejects as `write` does. */
  async probe(): Promise<void> {
    if (performance.now() - this.#committedAt < PROOF_MS) return;
    await this.write({ kind: 'probe' });
  }

  /** Resolves when every write is settled and the file is closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running;
    await this.#thread[Symbol.asyncDispose]();
  }

  /** Sends the writes that have gathered, batch after batch, until none is left. */
  async #run(): Promise<void> {
    // The writes of one turn of the event loop share a batch.
    await turn();
    while (this.#next.length > 0) {
      const batch = this.#next;
      this.#next = [];
      const writes = batch.map(({ write }) => write);
      const from = performance.now();
      for (const write of writes) {
        if (write.kind === 'add') this.underWay.adds = true;
        else if (write.kind !== 'probe') this.underWay.ids.add(write.id);
      }
      const result = await (this.#health.fault ?? this.#thread.ask(writes));
      const until = performance.now();
      this.#committedAt = 'failure' in result ? Number.NEGATIVE_INFINITY : until;
      this.#settle(batch, result, from, until);
    }
    this.#running = undefined;
  }

  #settle(batch: readonly Waiting[], result: BatchResult, from: number, until: number): void {
    const noted = (outcome: Outcome) => (isFailure(outcome) ? this.#health.note(outcome) : outcome);
    const outcomes = ('failure' in result ? batch.map(() => result) : result.outcomes).map(noted);
    const changed = batch.flatMap(({ write }, index) => changedBy(write, outcomes[index]));
    // The file may have the changes: every cache reads it anew.
    if (outcomes.some((outcome) => isFailure(outcome) && outcome.failure === 'unknown'))
      this.#onChanged('all');
    else if (changed.length > 0) this.#onChanged(changed);
    this.underWay.ids.clear();
    this.underWay.adds = false;
    for (const [index, outcome] of outcomes.entries()) {
      if (isFailure(outcome)) batch[index]?.reject(errorOf(outcome));
      else batch[index]?.resolve(outcome);
    }
    if (changed.length === 0) return;
    const commit: Commit = { writes: changed.length, from, until };
    for (const { onCommitted } of batch) onCommitted?.(commit);
  }
}

function isFailure(outcome: Outcome): outcome is Failure {
  return typeof outcome === 'object' && 'failure' in outcome;
}

/** The id of the todo that a write made, replaced or removed; none when it was refused or failed. */
function changedBy(write: Write, outcome: Outcome | undefined): number | readonly [] {
  if (typeof outcome === 'object' && 'id' in outcome) return outcome.id;
  return 'id' in write && (outcome === 'replaced' || outcome === 'removed') ? write.id : [];
}
