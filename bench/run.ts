import { fileURLToPath } from 'node:url';
import { scriptFlags } from '../test/script-flags.ts';
import { giveUp, run } from '../tools/command.ts';
import { openKit } from './kit.ts';
import { moveToLoadCore, runFacts } from './machine.ts';
import { type Measurement, measure } from './measure.ts';
import manifest from './package.json' with { type: 'json' };
import { table, tables } from './report.ts';
import { SCENARIOS } from './scenarios.ts';
import { programOf, SERVERS } from './servers.ts';
import { smoke } from './smoke.ts';
import { wrkVersion } from './wrk.ts';

const HELP = `Usage: npm run bench -- [flags]

Measures todo-service beside what a user would take instead: each server on one core, the load, by wrk, on the other.
Prints tables in Markdown; how far it is goes to standard error. docs/performance.md says how to read them.

  --scenario NAME[,NAME…]   default: all
  --server NAME[,NAME…]     default: all; "service" is needed for ratios
  --rounds N                measurements of each server of a scenario, in turns and in shuffled order; default 5
  --seconds S               of load in each measurement, after 1 s that does not count; default 1
  --profile FOLDER          CPU profiles of servers on Node.js, for the developer tools of Chromium. They slow them down
  --smoke                   every server answers each scenario correctly, nothing is timed
  --help

Scenarios:
${SCENARIOS.map(({ name, title }) => `  ${name.padEnd(18)}${title}`).join('\n')}

Servers:
${SERVERS.map(({ name, title }) => `  ${name.padEnd(18)}${title}`).join('\n')}

Example:
  npm run bench -- --scenario one,not-found --server service,constant
`;

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const say = (line: string) => void process.stderr.write(`${line}\n`);

process.exit(await main());

async function main(): Promise<number> {
  const flags = scriptFlags(HELP, { rounds: 5, seconds: 1 }, ['smoke'], ['scenario', 'server', 'profile']);
  const scenarios = chosen('scenario', flags.scenario, SCENARIOS);
  const wanted = chosen('server', flags.server, SERVERS);
  if (wrkVersion === undefined) giveUp('The benchmark needs wrk: apt-get install wrk, or brew install wrk.');
  const servers = wanted.filter((server) => programOf(server) !== undefined);
  if (servers.length < wanted.length) say('Left out, because Bun does not run here: elysia-bun');
  // As their packages have them: nobody starts a server in production that strips types first.
  run(process.execPath, at('../tools/build.ts'));
  run(at('../node_modules/.bin/tsc'), '--project', at('tsconfig.build.json'));
  // Each program that is started listens for the end of this one.
  process.setMaxListeners(0);
  await using kit = await openKit();
  if (flags.smoke) return await smoke(scenarios, servers, kit);

  const facts = { ...runFacts('bench', kit.folder), versions: versions() };
  moveToLoadCore();
  const measurements: Measurement[] = [];
  let complete = true;
  for (const [index, scenario] of scenarios.entries()) {
    const taking = servers.filter(({ name }) => scenario.servers.includes(name));
    say(`${index + 1} of ${scenarios.length}: ${scenario.title}`);
    const measured = await measure(scenario, taking, kit, flags, say);
    const whole = measured.length === taking.length * flags.rounds;
    if (!whole || measured.some(({ failed }) => failed > 0)) complete = false;
    measurements.push(...measured);
  }
  if (!complete) {
    process.stdout.write(
      '**Do not quote this run: requests or servers failed.** Standard error has which.\n\n',
    );
  }
  process.stdout.write(`${table(['', ''], Object.entries(facts))}\n\n${tables(measurements)}\n`);
  return complete ? 0 : 1;
}

/** Of this program, of Bun, of what the peers use, and of the load. */
function versions(): string {
  const packages = { ...manifest.dependencies, Bun: manifest.optionalDependencies['@oven/bun-linux-x64'] };
  const all = { 'Node.js': process.version, ...packages, wrk: wrkVersion };
  return Object.entries(all)
    .map((pair) => pair.join(' '))
    .join(', ');
}

/** Those of a list whose names were given; all without any. Ends the process for a name that is none. */
function chosen<T extends { readonly name: string }>(
  flag: string,
  names: string | undefined,
  known: readonly T[],
): readonly T[] {
  const given = names?.split(',');
  const stranger = given?.find((name) => known.every((one) => one.name !== name));
  if (stranger === undefined) return known.filter(({ name }) => given?.includes(name) ?? true);
  const all = known.map(({ name }) => name).join(', ');
  process.stderr.write(`--${flag} must be of ${all}; received ${JSON.stringify(stranger)}\n`);
  process.exit(2);
}
