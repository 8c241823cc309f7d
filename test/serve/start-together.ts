import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { temporaryFolder } from '../folder.ts';
import { startService } from '../start.ts';
import { randomFrom } from '../storage/random.ts';

export interface StartedTogether {
  readonly serving: number;
  /** Starts that ended with 75 and named the process that serves. */
  readonly refused: number;
  /** What each other start said. */
  readonly others: readonly string[];
  readonly categories: readonly unknown[];
}

/**
 * Starts so many services on one SQLite file that does not exist, each after 0 to `within` random milliseconds, and
 * waits until all but one have given up.
 */
export async function startTogether(count: number, seed: number, within: number): Promise<StartedTogether> {
  await using folder = await temporaryFolder();
  await using running = new AsyncDisposableStack();
  const random = randomFrom(seed);
  const database = join(folder.path, 'todos.db');
  const delays = Array.from({ length: count }, () => random() * within);
  const one = async (delay: number) => {
    await pause(delay);
    return startService({ environment: 'development', dataDir: folder.path }).then(
      (service) => ({ pid: running.use(service).pid }),
      (error: unknown) => ({ reason: String(error) }),
    );
  };
  const ends = await Promise.all(delays.map(one));
  const pids = ends.flatMap((end) => ('pid' in end ? end.pid : []));
  const reasons = ends.flatMap((end) => ('reason' in end ? end.reason : []));
  const refusal = new RegExp(`code 75[^]* is served by process ${pids[0]} on `);
  return {
    serving: pids.length,
    refused: reasons.filter((reason) => refusal.test(reason)).length,
    others: reasons.filter((reason) => !refusal.test(reason)),
    categories: pids.length === 0 ? [] : categoriesOf(database),
  };
}

function categoriesOf(path: string): readonly unknown[] {
  using database = new DatabaseSync(path);
  const rows = database.prepare('SELECT name FROM categories ORDER BY id').all();
  return rows.map(({ name }) => name);
}
