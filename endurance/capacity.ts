// How much memory, disk and processor a service takes: npm run capacity -- --help
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runFacts } from '../bench/machine.ts';
import { scriptFlags } from '../test/script-flags.ts';
import { SQLITE, startPostgres } from './capacity/engines.ts';
import { type Candidate, openCandidate } from './capacity/measure.ts';
import { report } from './capacity/report.ts';

const HELP = `Usage: npm run capacity -- [flags]

Measures on SQLite and on PostgreSQL what a service of 1,000 to 1,000,000 todos takes: memory, disk, and
microseconds of processor for each operation, of the service, its main thread, and the database's server. Services of all
sizes have their turns in each round, and the lower quartile of the rounds counts: what else the machine does only adds, and
adds to all alike. Fits a line to two thirds of the sizes, and says by how much it misses the others. Prints Markdown;
progress is on standard error. On Linux. Takes 20 to 30 minutes, 2 GB of disk and 4 GB of memory.

  --all            2 and 5 million todos too: some 40 minutes, 8 GB of disk and of memory
  --sizes A,B,C    other numbers of todos, ascending
  --rounds N       default 5
  --seconds S      of each operation in a round, default 1
  --help
`;

const flags = scriptFlags(HELP, { rounds: 5, seconds: 1 }, ['all'], ['sizes']);
const sizes = flags.sizes?.split(',').map(Number) ?? [
  ...[1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
  ...(flags.all ? [2_000_000, 5_000_000] : []),
];
if (sizes.length < 3 || sizes.some((size) => !(size >= 1))) {
  process.stderr.write(`--sizes must be at least three numbers above 0\n\n${HELP}`);
  process.exit(2);
}

/** All that a run makes, gigabytes with `--all`, is in one folder, which goes with the process, however that ends. */
function makeFolder(): void {
  const folder = mkdtempSync(join(tmpdir(), 'todo-capacity-'));
  // A server that root starts runs as another user, who must be able to enter.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  process.once('exit', () => {
    // Again: it gives up, without an error, where the server that ends removes a file at the same moment.
    while (existsSync(folder)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
}

async function measure(): Promise<string> {
  process.setMaxListeners(0);
  makeFolder();
  const began = performance.now();
  const say = (what: string) =>
    process.stderr.write(`${Math.round((performance.now() - began) / 1e3)} s: ${what} …\n`);
  const about = runFacts('capacity', tmpdir());
  await using postgres = await startPostgres();
  await using parts = new AsyncDisposableStack();
  const candidates: Candidate[] = [];
  for (const todos of sizes) {
    for (const engine of [SQLITE, postgres]) {
      say(`start with ${todos} todos in ${engine.name}`);
      candidates.push(await openCandidate(engine, todos, parts));
    }
  }
  for (let round = 1; round <= flags.rounds; round += 1) {
    for (const candidate of candidates) {
      say(`round ${round} of ${flags.rounds}: ${candidate.name}`);
      await candidate.measure(flags.seconds);
    }
  }
  const points = [];
  for (const candidate of candidates) points.push(await candidate.end());
  say('done');
  return report(about, points);
}

process.stdout.write(await measure());
