import { existsSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { temporaryFolder } from '../test/support/folder.ts';
import { scriptFlags } from '../test/support/script-flags.ts';
import { giveUp, outputOf, run } from '../tools/command.ts';
import { openDatabases } from './databases.ts';
import { draw, holdCharts } from './draw.ts';
import { merged, noFigures, PUBLISHED, readFigures, writeFigures } from './figures.ts';
import { PART } from './limit.ts';
import { cores } from './load.ts';
import { LATENCY_ROUNDS, measureCosts, measureLatency, SCENARIOS } from './measure.ts';
import { disturbed, LATENCY_RATE, tablesOf } from './report.ts';
import { EVERY, lacking, SERVERS, type Server, VEGETA } from './servers.ts';

const ALL = {
  scenario: [...Object.keys(SCENARIOS), 'latency'],
  server: EVERY.map(({ name }) => name),
};

/** The constant writes nothing, and the admin listener changes little. */
const TIMED = SERVERS.filter(({ name }) => !['constant', 'service-admin'].includes(name));

const HELP = `Usage: npm run bench -- [flags]

Measures todo-service beside the same list by others, each server in turns with the others and with a constant. Prints tables
of Markdown; docs/sizing.md says how to read them. Needs Linux, two cores and wrk; Go and Rust are left out without their
compilers, and so is latency without Go. Takes some 90 minutes, a scenario five to twenty: each has its number of rounds. A
round starts every server anew, with a copy of the database of its own, and warms up: for four seconds, until the compilers of
Node.js and Bun have little left to do, and for two before each further kind of request. A figure is the median of the rounds,
a ratio that of the ratios of each round: other work on the machine hits all alike.

  --scenario NAME[,NAME…]  of ${ALL.scenario.join(', ')}
      list-20, list-1000         what a list costs
      one                        one todo and replace
      create                     create, and the list; 10,000 todos, as for \`one\`
      size-10000 and so on       what todo-service takes for so many todos
      rate                       what one todo costs where requests come alone
      latency                    how long answers take at ${LATENCY_RATE} requests a second, by vegeta, over at most 500 connections
      postgresql                 both, of the list by others on the same PostgreSQL server, and of products (with Python); 8 minutes
      instances                  one and two instances on PostgreSQL, each with ${100 * PART} % of a processor, the load and
                                 PostgreSQL on the other one; by root, as cgroups need it; 4 minutes
  --server NAME[,NAME…]    of ${ALL.server.join(', ')};
                           without the constant there are no ratios
  --rounds N               times that each server is started and measured, in turns; 0, the default, for those of each scenario
  --seconds S              of load in each measurement, whole ones; default 2
  --figures FILE           puts what is measured into this file of JSON after each scenario, in the place of the same works;
                           prints all that it has. Published are ${PUBLISHED[1]}, of postgresql and instances,
                           and ${PUBLISHED[0]}, of the rest
  --draw                   measures nothing; makes the charts and tables that docs/sizing.md shows anew, from what is published
  --smoke                  every server answers correctly, and the charts are those of what is published; the figures say nothing
  --help
`;

const flags = scriptFlags(
  HELP,
  { rounds: 0, seconds: 2 },
  ['draw', 'smoke'],
  ['figures', 'scenario', 'server'],
);
const scenarios = chosen('scenario');
const named = chosen('server');
if (flags.draw) {
  await draw();
  process.exit();
}
if (cores === null || outputOf('which', 'wrk') === undefined)
  giveUp('The benchmark needs wrk, taskset and two cores.');
run(process.execPath, 'tools/build.ts');
if (flags.smoke) {
  run('node_modules/.bin/tsc', '--project', 'bench');
  await holdCharts();
}
const wanted = scenarios.flatMap((name) => (SCENARIOS[name] === undefined ? TIMED : serversOf(name)));
const here = new Set(
  EVERY.filter(({ name }) => named.includes(name) && wanted.some((server) => server.name === name))
    .filter((server) => isHere(server.name, server))
    .map(({ name }) => name),
);
const isChosen = ({ name }: Server) => here.has(name);
const isTimed = scenarios.includes('latency') || (scenarios.includes('postgresql') && !flags.smoke);
const hasVegeta = isTimed && isHere('latency', VEGETA);
// What is started from here on inherits it.
outputOf('taskset', '-acp', `${cores[1]}`, `${process.pid}`);
process.setMaxListeners(0);

const turns = flags.smoke
  ? { seconds: 1, secondsAtRate: 1, firstWarmUp: 0, warmUp: 0 }
  : { seconds: flags.seconds, secondsAtRate: 3 * flags.seconds, firstWarmUp: 4, warmUp: 2 };
const roundsOf = (fixed: number) => (flags.smoke ? 1 : flags.rounds || fixed);
await using folder = await temporaryFolder();
await using databases = openDatabases(folder.path, !flags.smoke);
const figures = noFigures(
  `${cpus()[0]?.model}, Linux ${release().split('.', 2).join('.')}, Node.js ${process.version}`,
);
// Those of earlier runs, and of this one.
let all = figures;
for (const name of scenarios) {
  const scenario = SCENARIOS[name];
  console.error(name);
  if (scenario !== undefined) {
    const todos = flags.smoke ? Math.min(scenario.todos, 1_000) : scenario.todos;
    const rounds = roundsOf(scenario.rounds);
    await measureCosts({ ...scenario, todos, rounds }, isChosen, hasVegeta, databases, figures, turns);
  } else if (hasVegeta) {
    await measureLatency(TIMED.filter(isChosen), databases, figures, roundsOf(LATENCY_ROUNDS), turns);
  }
  if (flags.figures === undefined) continue;
  if (existsSync(flags.figures)) all = merged(readFigures(flags.figures), figures);
  writeFigures(flags.figures, all);
}
if (!flags.smoke) for (const line of disturbed(figures)) console.error(`Not quiet: ${line}`);
console.log([all.machine, ...tablesOf(all)].join('\n\n'));

function isHere(title: string, built: Parameters<typeof lacking>[0]): boolean {
  const lack = lacking(built);
  if (lack !== undefined) console.error(`Left out: ${title}: ${lack}`);
  return lack === undefined;
}

function serversOf(name: string): readonly Server[] {
  return SCENARIOS[name]?.servers ?? SERVERS;
}

/** The names of a flag; all without any. */
function chosen(flag: 'scenario' | 'server'): readonly string[] {
  const given = flags[flag]?.split(',') ?? ALL[flag];
  if (given.every((name) => ALL[flag].includes(name))) return given;
  giveUp(`--${flag} must be of ${ALL[flag].join(', ')}; received ${JSON.stringify(flags[flag])}`, 2);
}
