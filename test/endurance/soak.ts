import { setTimeout as pause } from 'node:timers/promises';
import { signer } from '../../packages/conformance/src/sign.ts';
import { testAuth } from '../support/list.ts';
import { scrape, valuesOf } from '../support/prometheus.ts';
import { scriptFlags } from '../support/script-flags.ts';
import { type Ask, drive, startLoaded } from './load.ts';
import { slopePerHour } from './slope.ts';

const HELP = `Usage: node test/endurance/soak.ts [flags]

16 clients ask for a mix (75 % one todo, 15 % replace, 5 % list, 5 % create and delete) with 5 % bad tokens and 5 %
requests that are given up halfway, about 1,000 todos. Fails when memory after the first third grows by more than
1 MB an hour, when file descriptors or database connections pile up, or when an answer is not what it should be.
Under 30 minutes the slope says little: it is shown, and not judged. TODO_DATABASE and TODO_CACHE_MB are passed on.
It runs what "npm run build" made.

  --minutes M  default 60
  --help
`;
const { minutes } = scriptFlags(HELP, { minutes: 60 });
if (!(minutes > 0)) {
  process.stderr.write(`--minutes must be a number above 0\n\n${HELP}`);
  process.exit(2);
}

const CLIENTS = 16;
const TODOS = 1_000;
const JUDGED_MINUTES = 30;
const SAMPLE_INTERVAL_MS = 5_000;

const bad = { authorization: `Bearer ${signer(testAuth())({ role: 'editor' })}` };
const { TODO_DATABASE, TODO_CACHE_MB } = process.env;
await using parts = new AsyncDisposableStack();
const env = {
  TODO_ADMIN_PORT: '0',
  ...(TODO_DATABASE === undefined ? {} : { TODO_DATABASE }),
  ...(TODO_CACHE_MB === undefined ? {} : { TODO_CACHE_MB }),
};
const { service, ask } = await startLoaded(parts, { built: true, env }, minutes + 10);
const until = performance.now() + minutes * 60_000;
const counts = { answered: 0, aborted: 0, wrong: 0 };
const places: string[] = [];

/** Sends a request that must be answered with one of these statuses. Gives its place, when it has made something. */
async function send(wanted: readonly number[], ...request: Parameters<Ask>): Promise<string> {
  const { status, location } = await ask(...request);
  counts.answered += 1;
  if (!wanted.includes(status)) {
    counts.wrong += 1;
    process.stdout.write(`${request[0]} ${request[1]} answered ${status}\n`);
  }
  return location;
}

const oneOf = () => places[Math.floor(Math.random() * places.length)] ?? '/todos/1';
const todo = () => ({ title: `Soak ${Math.random()}`, categoryId: 1, done: false });

type Request = readonly [method: string, path: string, body?: object];

function choose(): readonly [wanted: readonly number[], request: Request] {
  const dice = Math.random();
  if (dice < 0.75)
    return [
      [200, 404],
      ['GET', oneOf()],
    ];
  if (dice < 0.9)
    return [
      [204, 404],
      ['PUT', oneOf(), todo()],
    ];
  return [[200], ['GET', '/todos']];
}

async function refused(): Promise<void> {
  const [, [method, path, body]] = choose();
  await send([401], method, path, body, bad);
}

async function abort(): Promise<void> {
  const [, [method, path, body]] = choose();
  const signal = AbortSignal.timeout(Math.floor(Math.random() * 3));
  await ask(method, path, body, {}, signal).catch(() => {});
  counts.aborted += 1;
}

async function create(): Promise<void> {
  places.push(await send([201], 'POST', '/todos', todo()));
  const oldest = places.length > TODOS ? places.shift() : undefined;
  if (oldest !== undefined) await send([204], 'DELETE', oldest);
}

async function anything(): Promise<void> {
  const dice = Math.random();
  if (dice < 0.05) await refused();
  else if (dice < 0.1) await abort();
  else if (dice < 0.15) await create();
  else {
    const [wanted, request] = choose();
    await send(wanted, ...request);
  }
}

/** What is looked at: a metric, and the unit in which it is shown. */
const METRICS = {
  'MB resident': ['process_resident_memory_bytes', 2 ** 20],
  'MB heap': ['nodejs_heap_size_used_bytes', 2 ** 20],
  'file descriptors': ['process_open_fds', 1],
  'database connections': ['db_client_connection_count', 1],
} as const;

async function sample() {
  const exposition = await scrape(service.adminUrl);
  const minute = minutes - (until - performance.now()) / 60_000;
  const values = Object.values(METRICS).map(
    ([metric, unit]) => valuesOf(exposition, metric).reduce((total, value) => total + value, 0) / unit,
  );
  return { minute, values };
}

while (places.length < TODOS) await create();
const samples: Awaited<ReturnType<typeof sample>>[] = [];
const clients = drive(CLIENTS, minutes * 60_000, anything);
while (performance.now() < until) {
  samples.push(await sample());
  await pause(Math.min(SAMPLE_INTERVAL_MS, minutes * 1_000));
}
await clients;

const [resident, , descriptors, connections] = Object.keys(METRICS).map((name, index) => {
  const points = samples
    .filter(({ minute }) => minute > minutes / 3)
    .map(({ minute, values }) => [minute, values[index] ?? Number.NaN] as const);
  const values = points.map(([, value]) => value);
  const [least, most, slope] = [Math.min(...values), Math.max(...values), slopePerHour(points)];
  const range = `${least.toFixed(1)} to ${most.toFixed(1)}`;
  process.stdout.write(
    `${name}: ${range}, at the end ${values.at(-1)?.toFixed(1)}, slope ${slope.toFixed(2)}/h\n`,
  );
  return { spread: most - least, slope };
});
const logged = Buffer.byteLength(service.stdout());
process.stdout.write(
  `${minutes} minutes, ${counts.answered} answers, ${counts.aborted} given up, ${counts.wrong} wrong\n` +
    `log ${(logged / 2 ** 20).toFixed(1)} MB, ${(logged / counts.answered).toFixed(1)} bytes an answer\n`,
);
const isJudged = minutes >= JUDGED_MINUTES;
if (!isJudged) process.stdout.write(`under ${JUDGED_MINUTES} minutes the slopes are not judged\n`);
const grows = isJudged && Number(resident?.slope) > 1;
const piles = Number(descriptors?.spread) > 2 * CLIENTS || Number(connections?.spread) > CLIENTS;
process.exitCode = counts.wrong > 0 || grows || piles ? 1 : 0;
