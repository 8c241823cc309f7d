import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { signer } from '../conformance/src/sign.ts';
import { testAuth } from '../test/operations/list.ts';
import { parseExposition, valuesOf } from '../test/operations/prometheus.ts';
import { scriptFlags } from '../test/script-flags.ts';
import { startService } from '../test/start.ts';
import { slopePerHour } from './slope.ts';

const HELP = `Usage: npm run soak -- [flags]

16 clients ask for a mix (75 % one todo, 15 % replace, 5 % list, 5 % create and delete) with 5 % bad tokens and 5 %
requests that are given up halfway, about 1,000 todos. Fails when memory after the first third grows by more than
1 MB an hour, when file descriptors or database connections pile up, or when an answer is not what it should be.
Under 30 minutes the slope says little: it is shown, and not judged. TODO_DATABASE, TODO_CACHE_MB and TODO_ADMIN_PORT are
passed on.

  --minutes M  default 60
  --rate N     requests a second, all clients together; default as many as they can
  --help
`;
const { minutes, rate } = scriptFlags(HELP, { minutes: 60, rate: Number.POSITIVE_INFINITY });
if (!(minutes > 0) || !(rate > 0)) {
  process.stderr.write(`--minutes and --rate must be numbers above 0\n\n${HELP}`);
  process.exit(2);
}

const CLIENTS = 16;
const TODOS = 1_000;
const JUDGED_MINUTES = 30;

const auth = testAuth();
const good = signer(auth)({ role: 'editor', exp: Math.floor(Date.now() / 1000) + minutes * 60 + 600 });
const bad = signer(testAuth())({ role: 'editor' });
const { TODO_DATABASE, TODO_CACHE_MB, TODO_ADMIN_PORT = '0' } = process.env;
await using service = await startService({
  auth,
  built: true,
  environment: 'production',
  env: {
    TODO_ADMIN_PORT,
    ...(TODO_DATABASE === undefined ? {} : { TODO_DATABASE }),
    ...(TODO_CACHE_MB === undefined ? {} : { TODO_CACHE_MB }),
  },
});
const { adminUrl } = JSON.parse(
  service
    .stdout()
    .split('\n')
    .find((line) => line.includes('adminUrl')) ?? '',
);
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
const until = performance.now() + minutes * 60_000;
const counts = { answered: 0, aborted: 0, wrong: 0 };
const ids: number[] = [];

interface Ask {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly wanted: readonly number[];
}

function send({ method, path, body }: Ask, token: string): ClientRequest {
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
  const sent = request(service.baseUrl + path, { method, headers, agent });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  return sent;
}

async function ask(what: Ask, token = good): Promise<string> {
  const sent = send(what, token);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.setEncoding('utf8');
  let text = '';
  response.on('data', (chunk: string) => {
    text += chunk;
  });
  await once(response, 'end');
  counts.answered += 1;
  if (!what.wanted.includes(response.statusCode ?? 0)) {
    counts.wrong += 1;
    process.stdout.write(`${what.method} ${what.path} answered ${response.statusCode}: ${text}\n`);
  }
  return text;
}

async function abort(what: Ask): Promise<void> {
  const sent = send(what, good);
  sent.on('error', () => {});
  await pause(Math.random() * 3);
  sent.destroy();
  counts.aborted += 1;
}

const oneOf = () => ids[Math.floor(Math.random() * ids.length)] ?? 1;
const todo = () => ({ title: `Soak ${Math.random()}`, categoryId: 1, done: false });

function choose(): Ask {
  const dice = Math.random();
  if (dice < 0.75) return { method: 'GET', path: `/todos/${oneOf()}`, wanted: [200, 404] };
  if (dice < 0.9) return { method: 'PUT', path: `/todos/${oneOf()}`, body: todo(), wanted: [204, 404] };
  return { method: 'GET', path: '/todos', wanted: [200] };
}

async function create(): Promise<void> {
  const text = await ask({ method: 'POST', path: '/todos', body: todo(), wanted: [201] });
  ids.push(JSON.parse(text).id);
  const oldest = ids.length > TODOS ? ids.shift() : undefined;
  if (oldest !== undefined) await ask({ method: 'DELETE', path: `/todos/${oldest}`, wanted: [204] });
}

async function client(): Promise<void> {
  let turn = performance.now();
  while (turn < until) {
    const now = performance.now();
    turn = Math.max(turn + (CLIENTS * 1_000) / rate, now);
    if (turn > now) await pause(turn - now);
    const dice = Math.random();
    if (dice < 0.05) await ask({ ...choose(), wanted: [401] }, bad);
    else if (dice < 0.1) await abort(choose());
    else if (dice < 0.15) await create();
    else await ask(choose());
  }
}

interface Sample {
  readonly minute: number;
  readonly resident: number;
  readonly heap: number;
  readonly descriptors: number;
  readonly connections: number;
}

const SAMPLE_INTERVAL_MS = 5_000;

async function sample(): Promise<Sample> {
  const exposition = parseExposition(await (await fetch(`${adminUrl}/metrics`)).text());
  const sum = (name: string) => valuesOf(exposition, name).reduce((total, value) => total + value, 0);
  return {
    minute: minutes - (until - performance.now()) / 60_000,
    resident: sum('process_memory_usage_bytes') / 2 ** 20,
    heap: sum('v8js_memory_heap_used_bytes') / 2 ** 20,
    descriptors: sum('process_open_fds'),
    connections: sum('db_client_connections'),
  };
}

while (ids.length < TODOS) await create();
const samples: Sample[] = [];
const clients = Promise.all(Array.from({ length: CLIENTS }, client));
while (performance.now() < until) {
  samples.push(await sample());
  await pause(Math.min(SAMPLE_INTERVAL_MS, minutes * 1_000));
}
await clients;
agent.destroy();

const settled = samples.filter(({ minute }) => minute > minutes / 3);
const slope = (of: (one: Sample) => number) => slopePerHour(settled.map((one) => [one.minute, of(one)]));
const spread = (of: (one: Sample) => number) => [Math.min(...settled.map(of)), Math.max(...settled.map(of))];
const memory = { resident: slope(({ resident }) => resident), heap: slope(({ heap }) => heap) };
const [fewest = 0, most = 0] = spread(({ descriptors }) => descriptors);
const [fewestOpen = 0, mostOpen = 0] = spread(({ connections }) => connections);
const last = settled.at(-1);
const logged = Buffer.byteLength(service.stdout());
for (const { minute, resident, heap } of samples.filter(
  (_, at) => at % Math.ceil(samples.length / 20) === 0,
)) {
  process.stdout.write(
    `${minute.toFixed(1)} min: ${resident.toFixed(1)} MB resident, ${heap.toFixed(1)} MB heap\n`,
  );
}
process.stdout.write(
  `${minutes} minutes, ${counts.answered} answers, ${counts.aborted} given up, ${counts.wrong} wrong\n` +
    `resident ${last?.resident.toFixed(1)} MB, slope ${memory.resident.toFixed(2)} MB/h; ` +
    `heap ${last?.heap.toFixed(1)} MB, slope ${memory.heap.toFixed(2)} MB/h\n` +
    `file descriptors ${fewest} to ${most}, database connections ${fewestOpen} to ${mostOpen}\n` +
    `log ${(logged / 2 ** 20).toFixed(1)} MB, ${(logged / counts.answered).toFixed(1)} bytes an answer\n`,
);
const grows = minutes >= JUDGED_MINUTES && memory.resident > 1;
const piles = most - fewest > 2 * CLIENTS || mostOpen - fewestOpen > CLIENTS;
if (minutes < JUDGED_MINUTES)
  process.stdout.write(`under ${JUDGED_MINUTES} minutes the slopes are not judged\n`);
process.exitCode = counts.wrong > 0 || grows || piles ? 1 : 0;
