import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { type Sign, signer, type Trust } from '../../conformance/src/sign.ts';
import { scriptFlags } from '../../test/script-flags.ts';
import { type Running, type ServeOptions, startService } from '../../test/start.ts';
import { type Difference, differencesOf, type Outcome, readOutcome, statusOf } from './answers.ts';
import { type Conversation, conversations, isWrite, type Known, LAST } from './requests.ts';

/** Milliseconds. An answer that takes longer counts as none, in both. */
const PATIENCE_MS = 8_000;

/** Milliseconds between two pieces of one connection. */
const PAUSE_MS = 15;

const CORS = { TODO_CORS_ORIGINS: 'https://app.example,http://localhost:3000' };
const ADMIN = { TODO_ADMIN_PORT: '0' };

const SETTINGS: Readonly<Record<string, ServeOptions>> = {
  'list-production': { environment: 'production' },
  'list-production-cors-admin': { environment: 'production', env: { ...CORS, ...ADMIN } },
  'list-production-uncached': {
    environment: 'production',
    env: { TODO_CACHE_MB: '0', TODO_LOG_LEVEL: 'debug' },
  },
  'list-development': { environment: 'development', env: ADMIN },
  'demo-production': { profile: 'error-demo', environment: 'production', env: ADMIN },
  'demo-development-cors': { profile: 'error-demo', environment: 'development', env: CORS },
};

const HELP = `Usage: tools/runtime/node endurance/wire/record.ts --before FOLDER --after FOLDER [flags]

Starts the service from two checkouts, each on a new data folder with the same secret, sends both the same generated
connections (${'`'}--count${'`'} in each setting) and compares what comes back byte for byte: status lines, headers with
their order, bodies, and whether the connection closes. Left out is only what differs between any two answers: Date,
random trace and span ids, ports, the values of metrics. Prints the differences by kind, each with its shortest example.

  --before FOLDER, --after FOLDER  checkouts with node_modules
  --count N                        connections in each setting, default 2000
  --seed N                         default picked by the clock, and printed
  --only SETTING[,SETTING…]        of ${Object.keys(SETTINGS).join(', ')}
  --help

Exit codes: 0 the same, 1 differences, 2 wrong usage.
`;

const ADMIN_PATHS = [
  ...['/live', '/ready', '/version', '/metrics', '/'],
  ...['/live/', '/LIVE', '/live?x', '/todos', '//'],
];

/** The two sides, on data of their own. Owned: `await using`. */
interface Pair extends AsyncDisposable {
  readonly before: Running;
  readonly after: Running;
}

interface Found extends Difference {
  readonly setting: string;
  readonly index: number;
  readonly conversation: Conversation;
}

const { before, after, only, count, seed } = scriptFlags(
  HELP,
  { count: 2_000, seed: Date.now() % 2 ** 31 },
  [],
  ['before', 'after', 'only'],
);
const settings = only?.split(',') ?? Object.keys(SETTINGS);
const unknown = settings.some((name) => SETTINGS[name] === undefined);
if (before === undefined || after === undefined || unknown || !(count > 0)) {
  process.stderr.write(HELP);
  process.exit(2);
}
process.stdout.write(`seed ${seed}, ${count} connections in each setting\n`);
const found: Found[] = [];
for (const setting of settings) found.push(...(await compareIn(setting, [before, after])));
report(found);
process.exitCode = found.length === 0 ? 0 : 1;

async function compareIn(setting: string, folders: readonly [string, string]): Promise<Found[]> {
  const auth = { issuer: 'https://issuer.example', audience: 'todo-service', secret: randomBytes(64) };
  const options = SETTINGS[setting] ?? {};
  let pair = await openPair(options, folders, auth);
  const counts = new Map<string, number>();
  try {
    const known = await knownOf(pair.before, signer(auth), options);
    const found: Found[] = [];
    const note = (index: number, conversation: Conversation, outcomes: readonly [Outcome, Outcome]) => {
      for (const answer of outcomes[0].answers) countIn(counts, statusOf(answer).slice(0, 3));
      if (!outcomes[0].closed) countIn(counts, 'silent');
      const differences = differencesOf(...outcomes);
      found.push(...differences.map((difference) => ({ ...difference, setting, index, conversation })));
      return differences.length > 0;
    };
    for (const [index, conversation] of fc.sample(conversations(known), { seed, numRuns: count }).entries()) {
      const outcomes = await both(pair, conversation);
      if (differencesOf(...outcomes).length > 0 && !(await differAgain(pair, conversation))) {
        countIn(counts, 'differed once and not again');
        continue;
      }
      if (!note(index, conversation, outcomes)) continue;
      // What was changed on one side alone would show in all that follows.
      if (options.profile === 'error-demo' || (await sameTodos(pair, known))) continue;
      process.stdout.write(`${setting}: the todos differ after connection ${index}, starting anew\n`);
      await pair[Symbol.asyncDispose]();
      pair = await openPair(options, folders, auth);
      await knownOf(pair.before, signer(auth), options);
    }
    if (options.env?.TODO_ADMIN_PORT !== undefined) {
      for (const [index, conversation] of adminConversations().entries()) {
        note(index, conversation, await both(pair, conversation, 'adminUrl'));
      }
    }
    const line = [...counts].sort().map(([status, times]) => `${status}: ${times}`);
    process.stdout.write(`${setting}: ${found.length} differences among ${line.join(', ')}\n`);
    return found;
  } finally {
    await pair[Symbol.asyncDispose]();
  }
}

/** Whether what changes nothing differs a second and a third time: a race of the network is no difference. */
async function differAgain(pair: Pair, conversation: Conversation): Promise<boolean> {
  if (isWrite(conversation.pieces.join(''))) return true;
  for (let time = 0; time < 2; time += 1) {
    if (differencesOf(...(await both(pair, conversation))).length === 0) return false;
  }
  return true;
}

function countIn(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

async function openPair(
  options: ServeOptions,
  [before, after]: readonly [string, string],
  auth: Trust,
): Promise<Pair> {
  await using parts = new AsyncDisposableStack();
  const start = async (checkout: string) => {
    const withAuth = options.profile === 'error-demo' ? options : { ...options, auth };
    const service = parts.use(await startService({ ...withAuth, checkout }));
    if (options.profile !== 'error-demo') await seedTodos(service, signer(auth)({ role: 'editor' }));
    return service;
  };
  const pair = { before: await start(before), after: await start(after) };
  const owned = parts.move();
  return { ...pair, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Thirty todos, enough for a list that is worth compressing, of which two are removed. */
async function seedTodos({ baseUrl }: Running, editor: string): Promise<void> {
  const headers = { Authorization: `Bearer ${editor}`, 'Content-Type': 'application/json' };
  for (let id = 1; id <= 30; id += 1) {
    const body = JSON.stringify({ title: `Todo ${id} äß\u{1F9C0}`, categoryId: 1 + (id % 2) });
    await fetch(`${baseUrl}/todos`, { method: 'POST', headers, body });
  }
  for (const id of [5, 30]) await fetch(`${baseUrl}/todos/${id}`, { method: 'DELETE', headers });
}

async function knownOf({ baseUrl }: Running, sign: Sign, { profile }: ServeOptions): Promise<Known> {
  const now = Math.floor(Date.now() / 1_000);
  const exp = now + 86_400;
  const editor = sign({ name: 'ada', role: 'editor', exp });
  const tokens = [
    editor,
    sign({ name: 'bob', exp }),
    sign({ unique_name: 'cyd', name: 5, roles: ['x', 'editor'], exp }),
    sign({ exp, sub: undefined }),
    sign({ role: 'Editor', exp }),
    sign({ role: 'editor', exp: 1 }),
    sign({ role: 'editor', exp, nbf: exp }),
    sign({ role: 'editor', exp, iss: 'https://other.example' }),
    sign({ role: 'editor', exp, aud: ['x'] }),
    sign({ role: 'editor', exp: undefined }),
    sign({ role: 'editor', exp }, { alg: 'none' }),
    sign({ role: 'editor', exp }, { crit: ['x'] }),
    sign({ role: 'editor', exp }, { alg: 'HS512' }),
    `${editor.slice(0, -4)}AAAA`,
  ];
  if (profile === 'error-demo') return { editor, tokens, tags: ['"x"'] };
  const headers = { Authorization: `Bearer ${editor}` };
  const tags = ['/todos', '/todos/1', '/todos/2', '/todos/3'].map(async (path) => {
    const reply = await fetch(baseUrl + path, { headers });
    await reply.arrayBuffer();
    return reply.headers.get('etag') ?? '"none"';
  });
  return { editor, tokens, tags: await Promise.all(tags) };
}

async function sameTodos({ before, after }: Pair, { editor }: Known): Promise<boolean> {
  const headers = { Authorization: `Bearer ${editor}` };
  const lists = [before, after].map(async ({ baseUrl }) =>
    (await fetch(`${baseUrl}/todos`, { headers })).text(),
  );
  const [one, other] = await Promise.all(lists);
  return one === other;
}

function adminConversations(): readonly Conversation[] {
  const lines = ['GET', 'HEAD', 'POST'].flatMap((method) =>
    ADMIN_PATHS.filter((path) => method !== 'HEAD' || path !== '/metrics').map(
      (path) => `${method} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
    ),
  );
  const odd = [
    'GET /live HTTP/1.1\r\n\r\n',
    'GET /live HTTP/1.0\r\n\r\n',
    'GET /nope HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n',
    'x\r\n\r\n',
  ];
  return [...lines, ...odd].map((text) => ({ pieces: [text], ends: false }));
}

async function both(
  { before, after }: Pair,
  conversation: Conversation,
  listener: 'baseUrl' | 'adminUrl' = 'baseUrl',
): Promise<readonly [Outcome, Outcome]> {
  return Promise.all([converse(before[listener], conversation), converse(after[listener], conversation)]);
}

/** Writes the pieces and reads until the service closes the connection, or has been silent for too long. */
async function converse(url: string, { pieces, ends }: Conversation): Promise<Outcome> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.on('error', () => {});
  await once(socket, 'connect');
  let received = '';
  let silent = false;
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
    // A service that closes reads on for up to a second, unless its client goes.
    if (/\r\nconnection: close\r\n/i.test(text)) setTimeout(() => socket.end(), PAUSE_MS);
  });
  socket.setTimeout(PATIENCE_MS, () => {
    silent = true;
    socket.destroy();
  });
  const closed = once(socket, 'close').catch(() => {});
  socket.once('end', () => socket.end());
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await sleep(PAUSE_MS);
    socket.write(piece, 'latin1');
  }
  if (ends) socket.end();
  else socket.write(LAST, 'latin1');
  await closed;
  return readOutcome(received, !silent, [port]);
}

function report(found: readonly Found[]): void {
  const kinds = Map.groupBy(found, ({ kind }) => kind);
  const often = [...kinds].sort(([, one], [, other]) => other.length - one.length);
  for (const [kind, all] of often) {
    process.stdout.write(`\n${all.length} × ${kind}\n`);
    const { setting, index, conversation, before, after } = all.reduce((least, one) =>
      lengthOf(one) < lengthOf(least) ? one : least,
    );
    process.stdout.write(`  --only ${setting}, connection ${index}${conversation.ends ? ', ended' : ''}\n`);
    for (const piece of conversation.pieces) process.stdout.write(`  sent   ${quoted(piece)}\n`);
    process.stdout.write(`  before ${quoted(before)}\n  after  ${quoted(after)}\n`);
  }
}

function lengthOf({ conversation }: Found): number {
  return conversation.pieces.reduce((sum, { length }) => sum + length, 0);
}

/** As a string of JavaScript, its middle left out when it is long. */
function quoted(text: string): string {
  if (text.length <= 1_200) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, 600))} … ${text.length - 1_200} … ${JSON.stringify(text.slice(-600))}`;
}
