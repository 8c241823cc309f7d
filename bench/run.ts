import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { measureBusyList, measureSoak, measureStart } from './drives.ts';
import { type Kit, openKit } from './kit.ts';
import { chooseLoad } from './load/load.ts';
import { describeMachine, readVersions } from './machine.ts';
import { type Options, readOptions } from './options.ts';
import { markdown, round } from './report.ts';
import { pseudoRandom } from './requests.ts';
import { type Measurement, median, type Results, summarize } from './results.ts';
import { SCENARIOS } from './scenarios.ts';
import { programOf, serverNamed } from './servers.ts';
import { smoke } from './smoke.ts';
import { runTrial, type Trial } from './trial.ts';

process.exitCode = await main(process.argv.slice(2));

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
  const trials = planTrials(options);
  const load = chooseLoad(options.load);
  await using kit = openKit(load.open);
  if (options.smoke) return await smoke(trials, kit);
  const [busy = 0] = loadavg();
  if (busy > 0.5)
    say(`The load average is ${round(busy)}: something else is running, and the figures will show it.`);
  const machine = describeMachine(kit.folder, load.name);
  const measurements: Measurement[] = [];
  const failures: string[] = [];
  const began = performance.now();
  const order = orderOf(trials, options.runs);
  for (const [index, trial] of order.entries()) {
    const place = `${index + 1}/${order.length}  ${trial.scenario.name}  ${trial.server.name}`;
    const left = ((performance.now() - began) / index) * (order.length - index);
    try {
      const measurement = await measure(trial, kit, options.seconds);
      measurements.push(measurement);
      say(`${place}  ${brief(measurement)}${index < 5 ? '' : `  (${Math.ceil(left / 60_000)} min left)`}`);
    } catch (error) {
      const failure = `${place}: ${error instanceof Error ? error.message : error}`;
      failures.push(failure);
      say(`FAILED ${failure}`);
    }
  }
  const results: Results = {
    date: new Date().toISOString(),
    command: ['npm run bench', ...(argv.length > 0 ? ['--', ...argv] : [])].join(' '),
    machine: {
      ...machine,
      ...disturbance(measurements),
      'load average after': loadavg().map(round).join(' '),
    },
    versions: readVersions(),
    figures: summarize(measurements),
    failures,
    measurements,
  };
  const tables = `${markdown(results)}\n`;
  writeFileSync(options.output, `${JSON.stringify(results, null, 1)}\n`);
  writeFileSync(`${options.output.replace(/\.json$/, '')}.md`, tables);
  process.stdout.write(`\n${tables}\nWritten to ${options.output} and beside it as Markdown.\n`);
  return failures.length === 0 ? 0 : 1;
}

/** Every server of every scenario that was asked for and that this machine can run. */
function planTrials({ scenarios, servers }: Options): readonly Trial[] {
  const missing = servers.filter((name) => programOf(serverNamed(name)) === undefined);
  if (missing.length > 0)
    say(`Left out, because Bun is not installed for this platform: ${missing.join(', ')}`);
  return SCENARIOS.filter(({ name }) => scenarios.includes(name)).flatMap((scenario) =>
    scenario.servers
      .filter((name) => servers.includes(name) && !missing.includes(name))
      .map(serverNamed)
      .flatMap((server): readonly Trial[] => {
        const durable: Trial = { scenario, server, durability: 'durable' };
        const relaxed: Trial = { scenario, server, durability: 'relaxed' };
        if (!scenario.writes) return [relaxed];
        return server.role === 'service' ? [durable] : [durable, relaxed];
      }),
  );
}

async function measure(trial: Trial, kit: Kit, wanted: number): Promise<Measurement> {
  const prepared = await kit.prepare(trial.scenario);
  const seconds = Math.max(wanted, trial.scenario.atLeastSeconds);
  switch (trial.scenario.drive) {
    case 'start':
      return measureStart(trial, prepared);
    case 'busy-list':
      return measureBusyList(trial, prepared, kit, seconds);
    case 'soak':
      return measureSoak(trial, prepared, seconds);
    default:
      return runTrial(trial, prepared, seconds);
  }
}

/**
 * All runs of a scenario one after the other, because its ratios are what counts and the machine changes with
 * time; the servers in another order in each run, so that what happens meanwhile hits nobody always.
 */
function orderOf(trials: readonly Trial[], runs: number): readonly Trial[] {
  const random = pseudoRandom(Date.now());
  return [...Map.groupBy(trials, ({ scenario }) => scenario).values()].flatMap((group) =>
    Array.from({ length: runs }, () => shuffle(group, random)).flat(),
  );
}

function shuffle<T>(values: readonly T[], random: () => number): readonly T[] {
  return values
    .map((value) => ({ value, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);
}

/** How far the machine was the benchmark's own. */
function disturbance(measurements: readonly Measurement[]): Record<string, string> {
  const shares = measurements.map(({ foreign }) => foreign).filter((share) => share !== undefined);
  if (shares.length === 0) return {};
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  const most = percent(Math.max(...shares));
  return { "the server's core, used by others": `median ${percent(median(shares))}, at most ${most}` };
}

function brief({ durability, requestsPerSecond, cpu, start, failed }: Measurement): string {
  const figure =
    start === undefined ? `${round(requestsPerSecond)}/s, ${round(cpu)} µs` : `${round(start)} ms`;
  return `${durability ?? ''}  ${figure}${failed > 0 ? `, ${failed} FAILED` : ''}`;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
