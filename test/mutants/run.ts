import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { giveUp, run } from '../../tools/command.ts';
import { randomFrom } from '../storage/random.ts';
import { type Ended, Lane } from './lane.ts';
import { type Mutant, makeMutants } from './mutants.ts';
import { PARTS, type Part } from './parts.ts';

const HELP = `Usage: npm run mutants -- [part…] [flags]

Changes the source of a part in small ways, one at a time, and runs the test files that reach the change, first those that
notice most in the least time. A change that no test notices survives, and is shown. A part of which less than 90 % is
noticed is a failure. Without names, every part: ${Object.keys(PARTS).join(', ')}.

  --sample N        so many mutants of each part, taken at random; 0 for all (300)
  --seed N          the seed of the sample, to repeat one (by the clock)
  --only-survivors  the survivors of the last run again, whose other results stay
  --resume          then also what the last run did not come to, and what is new since, up to the sample

A run in which no test begins for three times as long as without a change is ended, with all that it has started, and its
change counts as noticed; on a busy machine it gets another try first, of three times that limit. A change with which
nothing starts, and of which no test says so, counts neither way. The results of a part are in build/mutants/<part>.json.
`;

/** Percent of the mutants that a test must notice. */
const LEAST = 90;

/** Milliseconds. From one test to the next a run has three times what is usual, and this at least. */
const LEAST_LIMIT_MS = 5_000;

/** Milliseconds between two lines about the progress. */
const REPORT_INTERVAL_MS = 30_000;

type Status = 'noticed' | 'hung' | 'survived' | 'error';

interface Result extends Omit<Mutant, 'id' | 'text'> {
  readonly status: Status;
  /** The test that noticed it, or why there is none. */
  readonly by: string;
  readonly seconds: number;
}

interface Report {
  readonly part: string;
  readonly seed: number;
  /** How many mutants there are. */
  readonly of: number;
  readonly seconds: number;
  readonly mutants: readonly Result[];
}

/** A test file, the seconds that it takes and the mutants that it reaches. */
interface Known {
  readonly file: string;
  readonly seconds: number;
  /** Milliseconds. The longest time in which no test began. */
  readonly silenceMs: number;
  readonly reached: ReadonlySet<string>;
  /** Seconds of its runs until now, and the mutants that it has noticed: the least seconds for one run first. */
  spent: number;
  noticed: number;
}

const { values, positionals } = parseFlags();
const names = positionals.length > 0 ? positionals : Object.keys(PARTS);
const sample = numberOf(values.sample, 300);
const seed = numberOf(values.seed, Date.now() % 1_000_000);

run(process.execPath, 'tools/install.ts', 'test/mutants');
mkdirSync('build/mutants', { recursive: true });
using stack = new DisposableStack();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    stack.dispose();
    process.exit(1);
  });
const lanes = Array.from({ length: Math.min(2, availableParallelism()) }, (_, index) =>
  // Another run has lanes of its own.
  stack.use(new Lane(`build/mutants/lane-${process.pid}-${index + 1}`)),
);
const below: string[] = [];
for (const name of names) if ((await runPart(name)) < LEAST) below.push(name);
if (below.length > 0) {
  process.stderr.write(`Below ${LEAST} %: ${below.join(', ')}\n`);
  process.exitCode = 1;
}

/** Percent of the mutants of a part that were noticed. */
async function runPart(name: string): Promise<number> {
  const part = PARTS[name] as Part;
  const path = `build/mutants/${name}.json`;
  const isAgain = values['only-survivors'] || values.resume;
  const last: Report | undefined =
    isAgain && existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
  const from = performance.now();
  const { mutants, known } = await prepare(part);
  const there = new Set(mutants.map(keyOf));
  const before = last?.mutants.filter((result) => there.has(keyOf(result))) ?? [];
  const [kept, survivors] = [before.filter(isNoticed), before.filter((result) => !isNoticed(result))];
  const chosen = choose(mutants, kept, survivors);
  process.stdout.write(
    `\n${name}: ${chosen.length} of ${mutants.length} mutants, seed ${seed}, ${kept.length} known; ` +
      `tests of ${known.length} files take ${total(known).toFixed(1)} s\n`,
  );
  for (const { file, seconds, silenceMs, reached } of known)
    process.stdout.write(
      `  ${seconds.toFixed(1).padStart(5)} s, ${(silenceMs / 1_000).toFixed(1)} s at most from one test to the next, ` +
        `reaches ${reached.size}: ${file}\n`,
    );
  const keep = (results: readonly Result[]): Report => {
    const tried = new Set(results.map(keyOf));
    const report = {
      part: name,
      seed: last?.seed ?? seed,
      of: mutants.length,
      seconds: Math.round((last?.seconds ?? 0) + (performance.now() - from) / 1_000),
      mutants: [...kept, ...results, ...survivors.filter((result) => !tried.has(keyOf(result)))],
    };
    writeFileSync(path, `${JSON.stringify(report, undefined, 2)}\n`);
    return report;
  };
  // What is done when the run is ended before its time counts, too; survivors that are not tried again yet stay such.
  return summarise(keep(await examineAll(chosen, known, part.without, keep)));
}

/** The mutants of a part, and its tests, the fastest first. */
async function prepare({ source, tests, without }: Part) {
  const files = globSync([...source]).filter((path) => !path.endsWith('.test.ts'));
  const waiting = [...tests];
  const known: Known[] = [];
  const { mutants } = await makeMutants(files, '');
  await Promise.all(
    lanes.map(async (lane) => {
      using marked = new DisposableStack();
      const reached = `${lane.folder}/reached`;
      const { marked: texts } = await makeMutants(files, reached);
      for (const [file, text] of texts) marked.use(lane.change(file, text));
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
        writeFileSync(reached, '');
        // Processes of other users write it, too.
        chmodSync(reached, 0o666);
        const { end, seconds, silenceMs, said } = await lane.run(file, 600_000, without);
        if (end !== 'passed') throw new Error(`${file} must pass without a change; it ${end}: ${said}`);
        const lines = readFileSync(reached, 'utf8').trim().split('\n');
        known.push({ file, seconds, silenceMs, reached: new Set(lines), spent: seconds, noticed: 1 });
      }
    }),
  );
  known.sort((one, other) => one.seconds - other.seconds);
  return { mutants, known };
}

/** What tells a mutant also when other lines have moved. */
function keyOf({ file, before, after, context }: Mutant | Result): string {
  return JSON.stringify([file, before, after, context]);
}

function isNoticed({ status }: Result): boolean {
  return status === 'noticed' || status === 'hung';
}

/** The survivors of the last run, then others in the order of their draw, until the sample is full with what is known. */
function choose(
  mutants: readonly Mutant[],
  kept: readonly Result[],
  survivors: readonly Result[],
): readonly Mutant[] {
  const random = randomFrom(seed);
  const drawn = mutants.map((mutant) => ({ mutant, key: keyOf(mutant), at: random() }));
  drawn.sort((one, other) => one.at - other.at);
  const [known, again] = [new Set(kept.map(keyOf)), new Set(survivors.map(keyOf))];
  const first = drawn.filter(({ key }) => again.has(key));
  const others = values['only-survivors']
    ? []
    : drawn.filter(({ key }) => !again.has(key) && !known.has(key));
  const left = sample === 0 ? mutants.length : Math.max(0, sample - kept.length - first.length);
  return [...first, ...others.slice(0, left)].map(({ mutant }) => mutant);
}

async function examineAll(
  chosen: readonly Mutant[],
  known: readonly Known[],
  without: string | undefined,
  meanwhile: (results: readonly Result[]) => void,
): Promise<readonly Result[]> {
  const waiting = [...chosen];
  const results: Result[] = [];
  const from = performance.now();
  const progress = setInterval(() => {
    const seconds = (performance.now() - from) / 1_000;
    const left = (seconds / results.length) * (chosen.length - results.length);
    const survived = results.filter(({ status }) => status === 'survived').length;
    process.stderr.write(
      `  ${results.length} of ${chosen.length}, ${survived} survived, ${seconds.toFixed(0)} s, some ${left.toFixed(0)} s to go\n`,
    );
    meanwhile(results);
  }, REPORT_INTERVAL_MS);
  await Promise.all(
    lanes.map(async (lane) => {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const result = await examine(lane, mutant, known, without);
        results.push(result);
        if (result.status === 'survived' || result.status === 'error') show(result);
      }
    }),
  );
  clearInterval(progress);
  const [fastest] = known;
  for (const lane of lanes) {
    // A mutant that has removed a file of its lane would have been followed by nothing but failures.
    const { end, said } = await lane.run(fastest?.file ?? '', 600_000, without);
    if (end !== 'passed') throw new Error(`${fastest?.file} no longer passes without a change: ${said}`);
  }
  return results;
}

async function examine(
  lane: Lane,
  { id, text, ...mutant }: Mutant,
  known: readonly Known[],
  without: string | undefined,
): Promise<Result> {
  const from = performance.now();
  const resultOf = (status: Status, by: string): Result => ({
    ...mutant,
    status,
    by,
    seconds: Math.round((performance.now() - from) / 100) / 10,
  });
  const changed = text();
  if (changed === undefined) return resultOf('error', 'it cannot be parsed');
  using _changed = lane.change(mutant.file, changed);
  let broken: string | undefined;
  let reaching = 0;
  const runOf = async (one: Known, times = 1): Promise<Ended> => {
    const limitMs = times * Math.max(LEAST_LIMIT_MS, one.silenceMs * 3);
    const ended = await lane.run(one.file, limitMs, without);
    one.spent += ended.seconds;
    if (ended.end === 'failed' || ended.end === 'hung') one.noticed += 1;
    return ended;
  };
  const order = known.toSorted((one, other) => one.spent / one.noticed - other.spent / other.noticed);
  for (const one of order) {
    if (!one.reached.has(id)) continue;
    reaching += 1;
    const { end, said } = await runOf(one);
    if (end === 'failed') return resultOf('noticed', `${one.file}: ${said}`);
    if (end === 'broken') broken ??= `${one.file}: ${said}`;
    if (end !== 'hung') continue;
    // Two lanes, and what they start, are no load of others.
    const isBusy = (loadavg()[0] ?? 0) > 2 * cpus().length;
    if (!isBusy || (await runOf(one, 3)).end !== 'passed') return resultOf('hung', one.file);
  }
  if (broken !== undefined) return resultOf('error', broken);
  return resultOf('survived', reaching === 0 ? 'no test reaches it' : `${reaching} files reach it`);
}

function show({ file, line, before, after, status, by }: Result): void {
  const lines = (sign: string, text: string) => text.replaceAll(/^/gm, `  ${sign} `);
  const why = status === 'error' ? (by.split('\n').find((text) => text.includes('Error')) ?? by) : by;
  process.stdout.write(`${file}:${line} ${status} (${why})\n${lines('-', before)}\n${lines('+', after)}\n`);
}

/** Prints the score, which is the result. */
function summarise({ part, mutants, of, seed, seconds }: Report): number {
  const count = (status: Status) => mutants.filter((mutant) => mutant.status === status).length;
  const noticed = count('noticed') + count('hung');
  const counted = noticed + count('survived');
  const score = counted === 0 ? 100 : (100 * noticed) / counted;
  process.stdout.write(
    `${part}: ${score.toFixed(1)} %, ${noticed} of ${counted} noticed (${count('hung')} by the limit), ` +
      `${count('survived')} survived, ${count('error')} could not be tried; ` +
      `${mutants.length} of ${of}, seed ${seed}, ${seconds} s\n`,
  );
  return score;
}

function total(known: readonly Known[]): number {
  return known.reduce((sum, { seconds }) => sum + seconds, 0);
}

function parseFlags() {
  const options = {
    sample: { type: 'string' },
    seed: { type: 'string' },
    'only-survivors': { type: 'boolean', default: false },
    resume: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  const parsed = parseArgs({ options, allowPositionals: true });
  if (parsed.values.help) {
    process.stdout.write(HELP);
    process.exit();
  }
  const unknown = parsed.positionals.find((name) => !(name in PARTS));
  if (unknown !== undefined)
    giveUp(`A part must be one of ${Object.keys(PARTS).join(', ')}, received "${unknown}"`, 2);
  return parsed;
}

function numberOf(word: string | undefined, otherwise: number): number {
  const number = word === undefined ? otherwise : Number(word || Number.NaN);
  if (Number.isInteger(number) && number >= 0) return number;
  return giveUp(`--sample and --seed must be whole numbers from 0, received "${word}"`, 2);
}
