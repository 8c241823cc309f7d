import { scriptFlags } from '../test/script-flags.ts';
import { startTogether } from '../test/serve/start-together.ts';

const HELP = `Usage: node endurance/starts.ts [flags]

Starts many services together on one SQLite file. One must serve, the others exit with 75 and name it, and there are two
categories; else the exit code is 1. A round takes 10 s, the time for which a service waits for another to leave, and
half a second of a processor for each process.

  --rounds N      default 10
  --processes N   default 20
  --within MS     in which they all start, default 500
  --seed N        default: of the clock
  --help
`;

const flags = scriptFlags(HELP, {
  rounds: 10,
  processes: 20,
  within: 500,
  seed: Date.now() % 1_000_000,
});
const { rounds, processes, within } = flags;

// One for each process that is to go with this one.
process.setMaxListeners(0);
let wrong = 0;
for (let round = 0; round < rounds; round += 1) {
  const seed = flags.seed + round;
  const { serving, refused, others, categories } = await startTogether(processes, seed, within);
  if (serving === 1 && refused === processes - 1 && categories.join() === 'Work,Life') continue;
  wrong += 1;
  console.error(JSON.stringify({ seed, serving, refused, others, categories }));
}
console.log(JSON.stringify({ ...flags, wrong }));
process.exitCode = wrong === 0 ? 0 : 1;
