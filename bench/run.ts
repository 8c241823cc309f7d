import { cpus, release } from 'node:os';
import { PostgresServer } from '../test/storage/postgres-server.ts';
import { temporaryFolder } from '../test/support/folder.ts';
import { scriptFlags } from '../test/support/script-flags.ts';
import { giveUp, outputOf, run } from '../tools/command.ts';
import { compare, SCENARIOS } from './compare.ts';
import { cores } from './load.ts';
import { compared, sized } from './report.ts';
import { lacking, SERVERS } from './servers.ts';
import { measureSize, type Size } from './sizes.ts';

const ALL = { scenario: [...Object.keys(SCENARIOS), 'sizes'], server: SERVERS.map(({ name }) => name) };

const HELP = `Usage: npm run bench -- [flags]

Measures todo-service beside the same list by others, and what it takes for lists of several sizes. Prints tables of Markdown;
docs/sizing.md says how to read them. Needs Linux and wrk; Go and Rust are left out without their compilers. Takes an hour.

  --scenario NAME[,NAME…]  of ${ALL.scenario.join(', ')}
  --server NAME[,NAME…]    of ${ALL.server.join(', ')}; ratios are those of the first
  --rounds N               times that each server is started and measured, in turns; default 5
  --seconds S              of load in each measurement; default 2
  --smoke                  every server answers correctly; the figures say nothing
  --help
`;

const flags = scriptFlags(HELP, { rounds: 5, seconds: 2 }, ['smoke'], ['scenario', 'server']);
const scenarios = chosen('scenario');
const named = chosen('server');
if (cores === null || outputOf('which', 'wrk') === undefined)
  giveUp('The benchmark needs wrk, taskset and two cores.');
run(process.execPath, 'tools/build.ts');
if (flags.smoke) run('node_modules/.bin/tsc', '--project', 'bench');
const compares = Object.entries(SCENARIOS).filter(([name]) => scenarios.includes(name));
const servers = SERVERS.filter((server) => {
  if (compares.length === 0 || !named.includes(server.name)) return false;
  const lack = lacking(server);
  if (lack !== undefined) console.error(`Left out: ${server.title}: ${lack}`);
  return lack === undefined;
});
// What is started from here on inherits it.
outputOf('taskset', '-acp', `${cores[1]}`, `${process.pid}`);
process.setMaxListeners(0);

const turns = flags.smoke ? { rounds: 1, seconds: 1, warmUpSeconds: 0 } : { ...flags, warmUpSeconds: 3 };
await using folder = await temporaryFolder();
console.log(`${cpus()[0]?.model}, Linux ${release()}, Node.js ${process.version}`);
const measured = [];
for (const [name, scenario] of compares) {
  console.error(name);
  measured.push(await compare(scenario, servers, folder.path, turns));
}
if (measured.length > 0) console.log(`\n${compared(measured, servers)}`);
if (scenarios.includes('sizes')) {
  // A disk that stands still for a second would fail requests, and here no figure says how fast it is.
  await using postgres = await PostgresServer.start(`fsync=${flags.smoke ? 'off' : 'on'}`);
  for (const engine of [undefined, postgres]) {
    const sizes = new Map<string, Size>();
    for (const todos of flags.smoke ? [1_000] : [10_000, 200_000, 1_000_000]) {
      const many = flags.smoke ? [2] : [1, 2, 3];
      for (const instances of engine !== undefined && todos <= 10_000 ? many : [1]) {
        const title = `${todos.toLocaleString('en')}${instances > 1 ? `, ${instances} instances` : ''}`;
        console.error(title);
        sizes.set(title, await measureSize(engine, todos, instances, folder.path, turns));
      }
    }
    console.log(`\n${sized(engine === undefined ? 'SQLite' : 'PostgreSQL', sizes)}`);
  }
}

/** The names of a flag; all without any. */
function chosen(flag: 'scenario' | 'server'): readonly string[] {
  const given = flags[flag]?.split(',') ?? ALL[flag];
  if (given.every((name) => ALL[flag].includes(name))) return given;
  giveUp(`--${flag} must be of ${ALL[flag].join(', ')}; received ${JSON.stringify(flags[flag])}`, 2);
}
