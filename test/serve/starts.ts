// Starts many services together on one SQLite file: node test/serve/starts.ts --rounds 10 --processes 20 --seed 1
// One must serve, the others exit with 75 and name it, and there are two categories. A round takes 10 s, the time for
// which a service waits for another to leave, and half a second of a processor for each process.
import { parseArgs } from 'node:util';
import { startTogether } from './start-together.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    processes: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    within: { type: 'string', default: '500' },
  },
});

// One for each process that is to go with this one.
process.setMaxListeners(0);
let wrong = 0;
for (let round = 0; round < Number(values.rounds); round += 1) {
  const seed = Number(values.seed) + round;
  const { serving, refused, others, categories } = await startTogether(
    Number(values.processes),
    seed,
    Number(values.within),
  );
  if (serving === 1 && refused === Number(values.processes) - 1 && categories.join() === 'Work,Life')
    continue;
  wrong += 1;
  console.error(JSON.stringify({ seed, serving, refused, others, categories }));
}
console.log(JSON.stringify({ ...values, wrong }));
process.exitCode = wrong === 0 ? 0 : 1;
