import { scriptFlags } from '../support/script-flags.ts';
import { fuzz } from './fuzz.ts';
import { describeHostile, fuzzTime } from './fuzz-time.ts';

const HELP = `Usage: node test/http/fuzzing.ts [flags]

Sends generated requests to the shared list, then to the error demo, and holds every answer against the OpenAPI document.
Then (on Linux) sends values that repeat one thing up to the limit of a head, in every header that is read, in the target
and in bodies, and prints the ten answers that cost most. An answer that costs more than 50 ms of the processor ends it
with 1, as any other finding does.

  --requests N  to each profile, default 100000
  --hostile N   values of several parts, after those of one, default 20000
  --seed N      default: of the clock
  --help

TODO_DATABASE picks another database for the shared list.
`;

const flags = scriptFlags(HELP, { requests: 100_000, hostile: 20_000, seed: Date.now() % 2 ** 31 });
const { requests: runs, hostile, seed } = flags;
const { TODO_DATABASE: database } = process.env;
for (const profile of ['shared-list', 'error-demo'] as const) {
  const counts = await fuzz({
    profile,
    runs,
    seed,
    ...(database && profile === 'shared-list' ? { database } : {}),
  });
  const line = [...counts].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  process.stdout.write(`${profile}, ${runs} requests, seed ${seed}: ${line.join(', ')}\n`);
}
if (process.platform === 'linux') {
  process.stdout.write(`the slowest answers, ms of the processor, ${hostile} values, seed ${seed}:\n`);
  for (const timed of await fuzzTime({ runs: hostile, seed })) {
    process.stdout.write(`${timed.milliseconds.toFixed(1).padStart(6)}  ${describeHostile(timed.hostile)}\n`);
  }
}
