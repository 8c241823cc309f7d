import { parseArgs } from 'node:util';
import { SCENARIOS } from './scenarios.ts';
import { SERVERS } from './servers.ts';

export interface Options {
  readonly scenarios: readonly string[];
  readonly servers: readonly string[];
  /** Seconds of load in each measurement, after the warm-up. */
  readonly seconds: number;
  /** Times that the servers of a scenario are started. */
  readonly runs: number;
  /** Times that each is measured then, in turns; the tables have the medians of all. */
  readonly rounds: number;
  /** Every server answers each scenario correctly; nothing is timed. */
  readonly smoke: boolean;
  readonly load: 'wrk' | 'autocannon' | undefined;
  readonly output: string;
  /** Folder for CPU profiles. */
  readonly profile: string | undefined;
  /** What was given, but for the paths of `--output` and `--profile`. */
  readonly argv: readonly string[];
}

const HELP = `Usage: npm run bench -- [flags]

Measures todo-service beside what a user would pick instead: each server on one core, the load on the other.

  --scenario NAME[,NAME…]   default: all
  --server NAME[,NAME…]     default: all
  --runs RUNS               times that the servers of a scenario are started, all of them together; default 2
  --rounds ROUNDS           measurements of each server then, in turns and in shuffled order; default 3
  --seconds SECONDS         of load in each measurement, after 1 s that does not count; default 1
  --load wrk|autocannon     default: wrk when it is installed
  --output FILE             results as JSON, tables and chart beside it; default bench/results.json
  --profile FOLDER          CPU profiles of the service; bench/profile.ts reads them. They slow it down
  --smoke                   every server answers each scenario correctly, nothing is timed
  --help

Scenarios:
${SCENARIOS.map(({ name, title }) => `  ${name.padEnd(18)}${title}`).join('\n')}

Servers:
${SERVERS.map(({ name, title }) => `  ${name.padEnd(18)}${title}`).join('\n')}

Examples:
  npm run bench -- --scenario one,not-found --server service,constant
  npm run bench -- --scenario create --server service,fastify --runs 1 --load autocannon
`;

/** The options of the command line; a string is what to print instead of running, help or a complaint. */
export function readOptions(
  argv: readonly string[],
): Options | { readonly help: string } | { readonly fault: string } {
  let values: ReturnType<typeof parse>['values'];
  try {
    ({ values } = parse(argv));
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
  if (values.help) return { help: HELP };
  const scenarios = values.scenario?.split(',') ?? SCENARIOS.map(({ name }) => name);
  const servers = values.server?.split(',') ?? SERVERS.map(({ name }) => name);
  const seconds = Number(values.seconds ?? 1);
  const runs = Number(values.runs ?? 2);
  const rounds = Number(values.rounds ?? 3);
  const { load, smoke = false, output = new URL('results.json', import.meta.url).pathname } = values;
  const fault =
    unknown('--scenario', scenarios, SCENARIOS) ??
    unknown('--server', servers, SERVERS) ??
    wholeNumber('--seconds', seconds) ??
    wholeNumber('--runs', runs) ??
    wholeNumber('--rounds', rounds);
  if (fault !== undefined) return { fault };
  if (load !== undefined && load !== 'wrk' && load !== 'autocannon') {
    return { fault: `--load must be "wrk" or "autocannon", received ${JSON.stringify(load)}` };
  }
  return {
    scenarios,
    servers,
    seconds,
    runs,
    rounds,
    smoke,
    load,
    output,
    profile: values.profile,
    argv: withoutPaths(argv),
  };
}

function parse(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    options: {
      scenario: { type: 'string' },
      server: { type: 'string' },
      seconds: { type: 'string' },
      runs: { type: 'string' },
      rounds: { type: 'string' },
      load: { type: 'string' },
      output: { type: 'string' },
      profile: { type: 'string' },
      smoke: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
}

function withoutPaths(argv: readonly string[]): readonly string[] {
  const flag = /^--(?:output|profile)(?==|$)/;
  return argv.filter(
    (word, index) => !flag.test(word) && !/^--(?:output|profile)$/.test(argv[index - 1] ?? ''),
  );
}

function unknown(flag: string, names: readonly string[], known: readonly { readonly name: string }[]) {
  const stranger = names.find((name) => !known.some((one) => one.name === name));
  if (stranger === undefined) return undefined;
  const wanted = known.map(({ name }) => name).join(', ');
  return `${flag} must be of ${wanted}; received ${JSON.stringify(stranger)}`;
}

function wholeNumber(flag: string, value: number) {
  return Number.isSafeInteger(value) && value > 0
    ? undefined
    : `${flag} must be a whole number above 0, received ${value}`;
}
