import { deepEqual, equal, ok } from 'node:assert/strict';
import { signer } from '../packages/conformance/src/sign.ts';
import { testAuth } from '../test/support/list.ts';
import { residentMegabytes, threadSeconds } from '../test/support/process-figures.ts';
import { outputOf } from '../tools/command.ts';
import { type Databases, todoNumber } from './databases.ts';
import { type Figures, keep } from './figures.ts';
import { attack } from './latency.ts';
import { limitedGroup } from './limit.ts';
import { cores, load, type Target } from './load.ts';
import { heard, type Started } from './products.ts';
import { LATENCY_RATE, ofPostgres, REACHED } from './report.ts';
import { INSTANCES, ON_POSTGRESQL, SERVERS, type Server } from './servers.ts';
import { draw, loadOf, READS, type Work } from './works.ts';

export interface Scenario {
  /** In the database when it begins. */
  readonly todos: number;
  readonly works: readonly Work[];
  /** Times that each server is started and measured: more where they differ much, as of writes and low rates. */
  readonly rounds: number;
  /** Requests a second of each; as many as are answered without it. */
  readonly rates?: readonly number[];
  /** Without it, all but those of a scenario of their own. */
  readonly servers?: readonly Server[];
  /** Where its figures stand, if they are those of a scenario of its own; by default at the number of todos. */
  readonly at?: 'postgresql' | 'instances';
}

const OURS = SERVERS.filter(({ name }) => ['service', 'service-postgresql', 'constant'].includes(name));
const ALL: readonly Work[] = ['one', 'unchanged', 'gzip', 'list', 'replace', 'changed', 'mixed'];

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'list-20': { todos: 20, works: ['list'], rounds: 7 },
  'list-1000': { todos: 1_000, works: ['list'], rounds: 7 },
  one: { todos: 10_000, works: ['one', 'replace'], rounds: 9 },
  create: { todos: 10_000, works: ['list', 'create'], rounds: 9 },
  'size-10000': {
    todos: 10_000,
    works: ['unchanged', 'gzip', 'changed', 'mixed'],
    servers: OURS,
    rounds: 9,
  },
  'size-1000000': { todos: 1_000_000, works: ALL, servers: OURS, rounds: 3 },
  rate: { todos: 10_000, works: ['one'], rates: [500, 2_000], servers: OURS, rounds: 15 },
  // Creates come last: they make the list longer.
  postgresql: {
    at: 'postgresql',
    todos: 1_000,
    works: ['one', 'list', 'replace', 'create'],
    servers: ON_POSTGRESQL,
    rounds: 3,
  },
  instances: {
    at: 'instances',
    todos: 1_000,
    works: ['one', 'replace', 'create'],
    servers: INSTANCES,
    rounds: 5,
  },
};

/** Times that each server is started and its answers are timed. */
export const LATENCY_ROUNDS = 7;

/** Seconds are those of load; requests at a rate leave time for what else a process does, which is a part of their cost. */
export type Flags = Readonly<Record<'seconds' | 'secondsAtRate' | 'firstWarmUp' | 'warmUp', number>>;

/** Where the figures of a work stand that was sent at a rate. */
const workAt = (work: Work, perSecond?: number) => (perSecond === undefined ? work : `${work}-${perSecond}`);

/** Starts all servers in turns, each round in the other order, so that other work on the machine hits all alike. */
export async function inTurns<T>(
  servers: readonly T[],
  rounds: number,
  measure: (server: T, parts: AsyncDisposableStack) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
      await using parts = new AsyncDisposableStack();
      await measure(server, parts);
    }
  }
}

/** Measures what the works of a scenario cost, and on PostgreSQL how long answers take. */
export async function measureCosts(
  { todos, works, rates, rounds, servers: all = SERVERS, at }: Scenario,
  has: (server: Server) => boolean,
  hasVegeta: boolean,
  databases: Databases,
  figures: Figures,
  { seconds, secondsAtRate, firstWarmUp, warmUp }: Flags,
): Promise<void> {
  const key = at ?? String(todos);
  await inTurns(all.filter(has), rounds, async (server, parts) => {
    const { target, etag, bytes, firstList } = await open(server, databases, todos, parts);
    figures.costs[key] ??= {};
    const costs = figures.costs[key];
    for (const [index, work] of works.entries()) {
      if (server.name === 'constant' && !READS.has(work)) continue;
      const sent = loadOf(work, server.name, todos, etag);
      // One todo took 1.4 to 2.3 times the constant after a second of it, by what was compiled then; 1.2 to 1.5 after four.
      // A part of a processor takes longer for it.
      const first = at === 'instances' ? 2 * firstWarmUp : firstWarmUp;
      const before = index === 0 ? first : warmUp;
      if (before > 0) await load(target, sent, before);
      for (const perSecond of rates ?? [undefined]) {
        const cost = await load(
          target,
          { ...sent, perSecond },
          perSecond === undefined ? seconds : secondsAtRate,
        );
        ok(work !== 'unchanged' || cost.bytes < 1_000, `${server.name} answers no 304`);
        keep(costs, workAt(work, perSecond), server.name, cost);
        if (at !== 'postgresql' || !hasVegeta) continue;
        const reaches = cost.perSecond >= REACHED * LATENCY_RATE;
        // From the other end: each replace changes something.
        const latency = reaches
          ? await attack(target, sent.requests.toReversed(), seconds)
          : { p50: 0, p99: 0, perSecond: cost.perSecond };
        keep(figures.latency, ofPostgres(work), server.name, latency);
      }
    }
    if ((at !== 'postgresql' && !works.includes('mixed')) || server.name === 'constant') return;
    const memory = residentMegabytes(target.instances[0]?.pid ?? 0, 'most');
    keep(figures.sizes, key, server.name, { memory, database: bytes / 1e6, firstList });
  });
}

/** Measures how long the answers of a list of 1,000 take. */
export async function measureLatency(
  servers: readonly Server[],
  databases: Databases,
  figures: Figures,
  rounds: number,
  { seconds, warmUp }: Flags,
): Promise<void> {
  const todos = 1_000;
  await inTurns(servers, rounds, async (server, parts) => {
    const { target } = await open(server, databases, todos, parts);
    // Creates come last: they make the list longer.
    for (const kind of ['one', 'replace', 'list', 'create'] as const) {
      const requests = draw(kind, todos);
      // From the other end: the first replaces that are measured change something, too.
      if (warmUp > 0) await attack(target, requests.toReversed(), warmUp);
      keep(figures.latency, kind, server.name, await attack(target, requests, seconds));
    }
  });
}

/** Starts a server on a copy of its own and checks that it answers correctly. What is opened ends with `parts`. */
async function open(server: Server, databases: Databases, todos: number, parts: AsyncDisposableStack) {
  const { name, engine, dialect, instances = 1 } = server;
  const trust = { ...testAuth(), secret: Buffer.from(crypto.randomUUID()) };
  const sign = signer(trust);
  const { url, bytes, postmaster } = parts.use(await databases.copy(engine, todos));
  const hasParts = server.instances !== undefined;
  // The connections to come are served there: beside the load where instances have parts of the other processor.
  if (postmaster !== undefined) outputOf('taskset', '-cp', `${cores?.[hasParts ? 2 : 1]}`, `${postmaster}`);
  const started = [];
  while (started.length < instances) {
    const group = hasParts ? parts.use(limitedGroup()) : undefined;
    const instance = parts.use(await server.start(url, trust));
    group?.add(instance.pid);
    started.push(instance);
  }
  const [{ baseUrl, pid }] = started as [Started];
  const exp = Math.floor(Date.now() / 1_000) + 86_400;
  const by = (claims: Parameters<typeof sign>[0], signing = sign) => `Bearer ${signing(claims)}`;
  const logIn = async (role: 'editor' | 'viewer') =>
    (await dialect?.logIn(baseUrl, role)) ?? by({ exp, ...(role === 'editor' && { role }) });
  const [editor, viewer] = [await logIn('editor'), await logIn('viewer')];
  const say = dialect?.say ?? ((request: string) => request);
  const hear: (text: string) => unknown = dialect === undefined ? JSON.parse : heard;
  const ask = async (request: string, wanted: number, authorization = editor) => {
    const [, method = '', path, body] = /^(\S+) (\S+) ?(.*)$/.exec(say(request)) ?? [];
    const headers = { authorization, 'content-type': 'application/json', 'accept-encoding': 'identity' };
    const answer = await fetch(baseUrl + path, { method, headers, body: body || null });
    const text = await answer.text();
    // A product has codes of its own, of the same class.
    const [given, due] = [answer.status, wanted].map((status) =>
      dialect ? Math.floor(status / 100) : status,
    );
    equal(given, due, `${name} ${request}: ${answer.status} ${text.slice(0, 200)}`);
    return { text, etag: String(answer.headers.get('etag')) };
  };
  const before = threadSeconds(pid);
  const { text } = await ask('GET /todos', 200);
  const firstList = (threadSeconds(pid) - before) * 1e3;
  const list = Array.from({ length: todos }, (_, index) => todoNumber(index + 1));
  // Millions would take seconds to compare, as values.
  if (todos <= 10_000) deepEqual(hear(text), list);
  else equal(text.trim().length, JSON.stringify(list).length);
  const asksFor = async (wanted: unknown, ...words: Parameters<typeof ask>) =>
    deepEqual(hear((await ask(...words)).text), wanted);
  await asksFor(list[0], 'GET /todos/1', 200);
  if (name !== 'constant') {
    const body = { title: 'a', categoryId: 1 };
    const create = (title: string) => `POST /todos ${JSON.stringify({ ...body, title })}`;
    await ask(`GET /todos/${todos + 1}`, 404);
    const others = [{ exp: 1 }, { exp, aud: 'another' }, { exp, iss: 'another' }].map((claims) => by(claims));
    others.push(by({ exp }, signer({ ...trust, secret: Buffer.from('another') })));
    for (const other of others) await ask('GET /todos/1', 401, other);
    await ask(create('a'), 403, viewer);
    await ask(create(''), 400);
    const made = hear((await ask(create('a'), 201)).text) as { id: unknown };
    // The ids of products are random.
    deepEqual(made, { id: dialect ? made.id : todos + 1, ...body, done: false });
    await ask(`PUT /todos/${made.id} ${JSON.stringify({ ...body, done: true })}`, 204);
    await asksFor({ ...made, done: true }, `GET /todos/${made.id}`, 200);
  }
  const { etag } = await ask('GET /todos', 200);
  const mayRefuse = dialect?.mayRefuse ?? false;
  const target: Target = { authorization: editor, instances: started, say, mayRefuse, postmaster };
  return { target, etag, bytes, firstList };
}
