import type { LogEvent } from '../../events.ts';
import { messageOf } from '../../lib/errors.ts';
import { followOutage } from '../../lib/outage.ts';
import type { Ask } from './postgres-connection.ts';
import type { StatementPool } from './statement-pool.ts';

/** Deletes tombstones that no list needs any more. */
const PURGE = { name: 'purge', text: 'SELECT todo_purge()' };

const INTERVAL_MS = 3_600_000;

/** Purges tombstones, which an instance can do without; logs an outage. */
export function openPurge(logEvent: LogEvent) {
  const isTold = followOutage();
  let repeating: NodeJS.Timeout | undefined;
  const purge = async (ask: Ask): Promise<void> => {
    const reason = await ask(PURGE).then(() => undefined, messageOf);
    if (isTold(reason))
      logEvent(reason === undefined ? { event: 'purge-mended' } : { event: 'purge-failed', reason });
  };
  return {
    purge,
    repeat(database: StatementPool): void {
      repeating = setInterval(() => purge((statement) => database.write(statement)), INTERVAL_MS).unref();
    },
    [Symbol.dispose]: () => clearInterval(repeating),
  };
}
