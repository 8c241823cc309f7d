import { setImmediate as turn } from 'node:timers/promises';
import type { Mark } from '../../events.ts';
import { errorOf } from './error.ts';
import type { DatabaseHealth } from './health.ts';
import { Thread } from './thread.ts';
import type { BatchResult, Decided, Outcome, Write } from './writer-thread.ts';

/** What a batch may change. From the moment it is sent until it is done, some may see its changes and others not. */
export interface UnderWay {
  /** Of todos that it replaces or removes. */
  readonly ids: ReadonlySet<number>;
  /** It adds todos. */
  readonly adds: boolean;
}

/**
 * Which todos were made, replaced or removed. All may have been when another program changed something, or the outcome of a
 * batch is unknown.
 */
export type Changed = readonly number[] | 'all';

interface Waiting {
  readonly write: Write;
  readonly mark: Mark | undefined;
  resolve(outcome: Decided | PromiseLike<Decided>): void;
  reject(error: unknown): void;
}

const THREAD = new URL('./writer-thread.ts', import.meta.url);

/** A thread takes as long to start as the rest of the service: the first answer comes before it. */
const START_DELAY_MS = 100;

/** For so long, a commit shows that the disk takes writes. */
const PROOF_MS = 5_000;

/**
 * Hands writes to a thread that commits them, so that a slow disk never delays the main thread. One batch is
 * under way at a time; what arrives meanwhile makes the next one and shares its sync.
 *
 * Caches learn of a batch before it is sent, and of its end before its writers, who go on in its order:
 * `test/storage/sqlite-reads.test.ts`, `test/storage/contract.ts`, `test/telemetry/audit.test.ts`.
 */
export class Writer implements AsyncDisposable {
  readonly underWay = { ids: new Set<number>(), adds: false };
  readonly #thread: Thread<readonly Write[], BatchResult>;
  readonly #onChanged: (changed: Changed) => void;
  readonly #health: DatabaseHealth;
  readonly #starting: NodeJS.Timeout;
  #next: Waiting[] = [];
  /** Resolves when nothing is left to send; undefined when it is idle. */
  #running: Promise<void> | undefined;
  /** When the last batch was committed; before all time when it failed. */
  #committedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param onChanged Called before the writers of a batch hear of it; and with 'all' whenever another program may have
   * changed the file.
   */
  constructor(health: DatabaseHealth, onChanged: (changed: Changed) => void) {
    this.#health = health;
    this.#onChanged = onChanged;
    this.#thread = new Thread(THREAD, health.file, () => onChanged('all'));
    this.#starting = setTimeout(() => this.#thread.start(), START_DELAY_MS).unref();
  }

  /**
   * Resolves when what was decided is on disk. Those who wait for the writes of a batch go on in the order of the writes,
   * whatever their kinds, so that the log has the order of the commits. Nothing is written once the writer is closed.
   *
   * @param mark Gets the commit of its batch, when that changed something.
   */
  write<W extends Write>(write: W, mark?: Mark): Promise<Decided<W['kind']>> {
    this.#running ??= this.#run();
    const { promise, resolve, reject } = Promise.withResolvers<Decided<W['kind']>>();
    this.#next.push({ write, mark, resolve, reject });
    return promise;
  }

  /** Resolves when writes reach the disk: one did lately, or one that changes nothing does now. Rejects as `write`. */
  async probe(): Promise<void> {
    if (performance.now() - this.#committedAt < PROOF_MS) return;
    await this.write({ kind: 'probe' });
  }

  /** Every write is settled, and the file closed, when it resolves. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running;
    clearTimeout(this.#starting);
    await this.#thread[Symbol.asyncDispose]();
  }

  /** Sends what has gathered, batch after batch, until nothing has. */
  async #run(): Promise<void> {
    // Later than every request that the event loop finds ready in this turn: they share a batch.
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
    const noted = (outcome: Outcome) =>
      typeof outcome === 'object' && 'failure' in outcome ? this.#health.note(outcome) : outcome;
    const outcomes = ('failure' in result ? batch.map(() => result) : result.outcomes).map(noted);
    const changed = batch.flatMap(({ write }, index) => changedBy(write, outcomes[index]));
    // The file may have the changes, and is read.
    if ('failure' in result && result.failure === 'unknown') this.#onChanged('all');
    else if (changed.length > 0) this.#onChanged(changed);
    this.underWay.ids.clear();
    this.underWay.adds = false;
    // Its writers hear last.
    for (const [index, outcome] of outcomes.entries()) {
      if (typeof outcome === 'object' && 'failure' in outcome) batch[index]?.reject(errorOf(outcome));
      else batch[index]?.resolve(outcome);
    }
    if (changed.length === 0) return;
    const commit = { name: 'commit', writes: changed.length, from, until } as const;
    for (const { mark } of batch) mark?.(commit);
  }
}

/** The id of the todo that a write made, replaced or removed; none when it was refused or failed. */
function changedBy(write: Write, outcome: Outcome | undefined): number | readonly [] {
  if (typeof outcome === 'object' && 'id' in outcome) return outcome.id;
  return 'id' in write && (outcome === 'replaced' || outcome === 'removed') ? write.id : [];
}
