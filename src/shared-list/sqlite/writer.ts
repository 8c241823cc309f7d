import type { BatchResult, Bug, Outcome, Outcomes, Probe, Write } from './batch.ts';
import { errorOf, failureByEnd } from './failure.ts';
import type { FileHealth } from './health.ts';
import type { KnownFile } from './known-file.ts';
import { Thread, type ThreadEnded } from './thread.ts';

/** Hears of each batch before its writers do. */
export interface Watcher {
  /** A batch is sent: from now on its changes may become visible. */
  batchSent(writes: readonly Write[]): void;
  /**
   * The batch is done, and these of its writes changed something. The next may be sent at once; then `onOutcome`
   * of each write of this one is called.
   */
  batchDone(changed: readonly Write[]): void;
  /** Another program changed something, or the outcome of a batch is unknown: only the database is right. */
  invalidate(): void;
}

interface Waiting {
  readonly write: Write | Probe;
  settle(outcome: Exclude<Outcome, Bug>): void;
  fail(error: unknown): void;
}

const THREAD = new URL('./writer-thread.ts', import.meta.url);

/** A thread takes as long to start as the rest of the service: the first answer comes before it. */
const START_DELAY_MS = 100;

/** For so long, a commit shows that the disk takes writes. */
const PROOF_MS = 5_000;

/**
 * Hands writes to a thread that commits them, so that a slow disk never delays the main thread. One batch is
 * under way at a time; what arrives meanwhile makes the next one and shares its sync.
 */
export class Writer implements AsyncDisposable {
  readonly #thread: Thread<readonly (Write | Probe)[], BatchResult, 'changed-elsewhere'>;
  readonly #watchers: readonly Watcher[];
  readonly #health: FileHealth;
  readonly #starting: NodeJS.Timeout;
  #next: Waiting[] = [];
  #scheduled = false;
  #underWay = false;
  #onIdle: (() => void) | undefined;
  /** When the last batch was committed; before all time when it failed. */
  #committedAt = Number.NEGATIVE_INFINITY;

  constructor(file: KnownFile, watchers: readonly Watcher[], health: FileHealth) {
    this.#health = health;
    this.#watchers = watchers;
    const invalidate = (): void => {
      for (const watcher of watchers) watcher.invalidate();
    };
    this.#thread = new Thread(THREAD, file, {
      // It sees changes from now on; what was read before may be older than a change that it does not see.
      ready: invalidate,
      news: invalidate,
      // One that cannot begin waits for the next write.
      ended: (ready) => {
        invalidate();
        if (ready) this.#thread.start();
      },
    });
    this.#starting = setTimeout(() => this.#thread.start(), START_DELAY_MS).unref();
  }

  /**
   * Resolves when what was decided is on disk, with what `onOutcome` makes of the outcome. All `onOutcome` of a batch
   * are called in the order of its writes, before anybody else runs. Nothing is written once the writer is closed.
   */
  write<W extends Write | Probe, T>(write: W, onOutcome: (outcome: Outcomes[W['kind']]) => T): Promise<T> {
    return new Promise((resolve, fail) => {
      const settle = (outcome: Outcomes[W['kind']]): void => {
        try {
          resolve(onOutcome(outcome));
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

  /** Resolves when writes reach the disk: one did lately, or one that changes nothing does now. Rejects as `write`. */
  async probe(): Promise<void> {
    if (performance.now() - this.#committedAt < PROOF_MS) return;
    await this.write({ kind: 'probe' }, () => {});
  }

  /** Every write is settled, and the file closed, when it resolves. */
  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      this.#send();
    });
    clearTimeout(this.#starting);
    await this.#thread[Symbol.asyncDispose]();
  }

  #send(): void {
    if (this.#underWay) return;
    if (this.#next.length === 0) {
      this.#onIdle?.();
      return;
    }
    const batch = this.#next;
    this.#next = [];
    this.#underWay = true;
    const writes = batch.map(({ write }) => write);
    const changes = writes.filter((write) => write.kind !== 'probe');
    for (const watcher of this.#watchers) watcher.batchSent(changes);
    this.#commit(writes).then((result) => this.#settle(batch, result));
  }

  async #commit(writes: readonly (Write | Probe)[]): Promise<BatchResult> {
    const fault = this.#health.writeFault;
    if (fault !== undefined) return fault;
    return this.#thread.ask(writes).catch((ended: ThreadEnded) => failureByEnd(ended, 'unknown'));
  }

  #settle(batch: readonly Waiting[], result: BatchResult): void {
    this.#underWay = false;
    this.#committedAt = 'failure' in result ? Number.NEGATIVE_INFINITY : performance.now();
    if ('failure' in result) this.#health.note(result);
    const changed = changesOf(batch, result);
    for (const watcher of this.#watchers) {
      watcher.batchDone(changed);
      if ('failure' in result && result.failure === 'unknown') watcher.invalidate();
    }
    this.#send();
    for (const [index, { settle, fail }] of batch.entries()) {
      if ('failure' in result) fail(errorOf(result));
      else deliver(result.outcomes[index], settle, fail);
    }
  }
}

/** The writes that changed something: not those that were refused, and none of a batch that failed. */
function changesOf(batch: readonly Waiting[], result: BatchResult): readonly Write[] {
  if ('failure' in result) return [];
  return batch.flatMap(({ write }, index) =>
    write.kind !== 'probe' && isChange(result.outcomes[index]) ? write : [],
  );
}

function isChange(outcome: Outcome | undefined): boolean {
  return typeof outcome === 'number' || outcome === 'replaced' || outcome === 'removed';
}

function deliver(outcome: Outcome | undefined, settle: Waiting['settle'], fail: Waiting['fail']): void {
  if (outcome === undefined) fail(new Error('The writing thread left a write without an outcome'));
  else if (typeof outcome === 'object' && 'error' in outcome) fail(new Error(outcome.error));
  else settle(outcome);
}
