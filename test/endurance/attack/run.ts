import { scriptFlags } from '../../support/script-flags.ts';
import { attack, type Figures, overBudget } from './attack.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';

const HELP = `Usage: node test/endurance/attack/run.ts [flags]

Attacks a service as a stranger would, a new one in production for each scenario, and prints what that took of its
process: resident memory at most, compared with before, processor time, and the longest wait of another client that asks
for one todo ten times a second. What is over its budget makes the exit code 1; a wait never does. Linux only.

  --seconds N  for each scenario, default 15
  --times N    budgets are multiplied by, default 1
  --help

One or some of the scenarios:

${SCENARIOS.map(({ name, what }) => `  --${name.padEnd(22)}${what}`).join('\n')}
`;

const names = SCENARIOS.map(({ name }) => name);
const flags = scriptFlags(HELP, { seconds: 15, times: 1 }, names);
const chosen = SCENARIOS.filter(({ name }) => flags[name] === true);
if (process.platform !== 'linux') {
  process.stdout.write('Left out: only Linux tells what a process takes, in /proc.\n');
  process.exit();
}
for (const scenario of chosen.length > 0 ? chosen : SCENARIOS) {
  const figures = await attack(scenario, flags.seconds);
  const over = overBudget(scenario, figures, flags.times);
  if (over.length > 0) process.exitCode = 1;
  process.stdout.write(
    `${scenario.what}\n${describe(scenario, figures)}${over.map((line) => `  OVER: ${line}\n`).join('')}\n`,
  );
}

function describe(scenario: Scenario, figures: Figures): string {
  const { before, peak, longestWaitMs, failed, open, answers } = figures;
  const counts = Object.entries(answers).map(([status, count]) => `${status}: ${count}`);
  return [
    `  memory      ${before.toFixed(0)} MB before, +${(peak - before).toFixed(0)} MB (budget +${scenario.megabytes})`,
    `  processor   ${figures.processorSeconds.toFixed(1)} s (budget ${scenario.processorSeconds})`,
    `  others      waited ${longestWaitMs.toFixed(0)} ms at most (wanted below 2000)${failed > 0 ? `, ${failed} without an answer` : ''}`,
    `  attackers   ${open} of ${scenario.connections} connections open at the end${counts.length > 0 ? `, answers ${counts.join(', ')}` : ''}`,
    '',
  ].join('\n');
}
