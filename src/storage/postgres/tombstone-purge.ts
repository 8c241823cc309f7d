import type { LogEvent } from '../../events.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Ask } from './postgres-connection.ts';
import type { StatementPool } from './statement-pool.ts';

/** Deletes tombstones that no list needs any more. */
const PURGE = { name: 'purge', text: 'SELECT todo_purge()' };

const INTERVAL_MS = 3_600_000;

/** Purges tombstones, which an instance can do without. The first failure after a success is logged, and so is its end. */
export class TombstonePurge implements Disposable {
  readonly #logEvent: LogEvent;
  #failing = false;
  #repeating: NodeJS.Timeout | undefined;

  constructor(logEvent: LogEvent) {
    this.#logEvent = logEvent;
  }

  async purge(ask: Ask): Promise<void> {
    const reason = await ask(PURGE).then(
      () => undefined,
      (error: unknown) => messageOf(error),
    );
    if ((reason !== undefined) === this.#failing) return;
    this.#failing = reason !== undefined;
    this.#logEvent(reason === undefined ? { event: 'purge-mended' } : { event: 'purge-failed', reason });
  }

  repeat(database: StatementPool): void {
    const purge = () => this.purge((statement) => database.write(statement));
    this.#repeating = setInterval(purge, INTERVAL_MS).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#repeating);
  }
}
