import { readCount } from './count.ts';
import { fuzz } from './fuzz.ts';

const USAGE = 'npm run fuzz -- [requests] [seed]';

/**
 * `npm run fuzz -- [requests] [seed]`: 100,000 generated requests to the shared list, then to the
 * error demo. `TODO_DATABASE` picks another database.
 */
const runs = readCount(process.argv[2], 100_000, USAGE);
const seed = readCount(process.argv[3], Date.now() % 2 ** 31, USAGE);
for (const profile of ['shared-list', 'error-demo'] as const) {
  const { TODO_DATABASE: database } = process.env;
  const counts = await fuzz({
    profile,
    runs,
    seed,
    ...(database && profile === 'shared-list' ? { database } : {}),
  });
  const line = [...counts].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  process.stdout.write(`${profile}, ${runs} requests, seed ${seed}: ${line.join(', ')}\n`);
}
