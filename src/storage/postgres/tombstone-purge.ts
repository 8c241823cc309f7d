import type { LogEvent } from '../../events.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Ask } from './postgres-connection.ts';
import type { StatementPool } from './statement-pool.ts';

/** Deletes tombstones that no list needs any more. */
const PURGE = { name: 'purge', text: 'SELECT todo_purge()' };

const INTERVAL_MS = 3_600_000;

/** Purges tombstones, which an instance can do without. The first failure after a success is logged, and so is its end. */
export function openPurge(logEvent: LogEvent) {
  let failing = false;
  let repeating: NodeJS.Timeout | undefined;
  const purge = async (ask: Ask): Promise<void> => {
    const failed = await ask(PURGE).then(
      () => undefined,
      (error: unknown) => ({ event: 'purge-failed', reason: messageOf(error) }) as const,
    );
    if ((failed !== undefined) !== failing) logEvent(failed ?? { event: 'purge-mended' });
    failing = failed !== undefined;
  };
  return {
    purge,
    repeat(database: StatementPool): void {
      repeating = setInterval(() => purge((statement) => database.write(statement)), INTERVAL_MS).unref();
    },
    [Symbol.dispose]: () => clearInterval(repeating),
  };
}
