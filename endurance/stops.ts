import { stopWhileBusy } from '../test/operations/busy-stop.ts';
import { readCount } from '../test/operations/count.ts';

/** `npm run stops -- [runs]`: stops a busy service so many times (50) and counts lost requests. */
const runs = readCount(process.argv[2], 50, 'npm run stops -- [runs]');
let answered = 0;
let lost = 0;
for (let run = 1; run <= runs; run += 1) {
  const result = await stopWhileBusy();
  answered += result.answered;
  lost += result.lost + (result.exitCode === 0 ? 0 : 1);
  process.stdout.write(`run ${run}: ${JSON.stringify(result)}\n`);
}
process.stdout.write(`${runs} stops, ${answered} requests answered, ${lost} lost or stops failed\n`);
process.exitCode = lost === 0 ? 0 : 1;
