import { stopWhileBusy } from '../test/operations/busy-stop.ts';
import { scriptFlags } from '../test/script-flags.ts';

const HELP = `Usage: npm run stops -- [flags]

Stops a service that 40 clients keep busy, again and again, and counts requests without a complete answer. One of them, or
a stop that fails, makes the exit code 1.

  --runs N  default 50
  --help
`;

const { runs } = scriptFlags(HELP, { runs: 50 });
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
