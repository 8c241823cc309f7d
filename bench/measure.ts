import { deepEqual, equal, ok } from 'node:assert/strict';
import { signer } from '../packages/conformance/src/sign.ts';
import { testAuth } from '../test/support/list.ts';
import { residentMegabytes, threadSeconds } from '../test/support/process-figures.ts';
import { type Databases, todoNumber } from './databases.ts';
import { type Figures, keep } from './figures.ts';
import { load, type Target } from './load.ts';
import { ALONE, SERVERS, type Server } from './servers.ts';
import { loadOf, READS, type Work } from './works.ts';

export interface Scenario {
  /** In the database when it begins. */
  readonly todos: number;
  readonly works: readonly Work[];
  /** Times that each server is started and measured: more where they differ much, as of writes and low rates. */
  readonly rounds: number;
  /** Requests a second of each; as many as are answered without it. */
  readonly rates?: readonly number[];
  /** Names; without it, all that are one process. */
  readonly servers?: readonly string[];
}

const OURS = ['service', 'service-postgresql', 'constant'];
const ALL: readonly Work[] = ['one', 'unchanged', 'gzip', 'list', 'replace', 'changed', 'mixed'];

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'list-20': { todos: 20, works: ['list'], rounds: 7 },
  'list-1000': { todos: 1_000, works: ['list'], rounds: 7 },
  one: { todos: 10_000, works: ['one', 'replace'], servers: SERVERS.map(({ name }) => name), rounds: 9 },
  create: { todos: 10_000, works: ['list', 'create'], rounds: 9 },
  'size-10000': {
    todos: 10_000,
    works: ['unchanged', 'gzip', 'changed', 'mixed'],
    servers: OURS,
    rounds: 9,
  },
  'size-1000000': { todos: 1_000_000, works: ALL, servers: OURS, rounds: 3 },
  rate: { todos: 10_000, works: ['one'], rates: [500, 2_000], servers: OURS, rounds: 15 },
};

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

/** Measures what the works of a scenario cost. */
export async function measureCosts(
  { todos, works, rates, rounds, servers: names }: Scenario,
  servers: readonly Server[],
  databases: Databases,
  figures: Figures,
  { seconds, secondsAtRate, firstWarmUp, warmUp }: Flags,
): Promise<void> {
  const chosen = servers.filter((server) => names?.includes(server.name) ?? ALONE.includes(server));
  await inTurns(chosen, rounds, async (server, parts) => {
    const { target, etag, bytes, firstList } = await open(server, databases, todos, parts);
    figures.costs[todos] ??= {};
    const costs = figures.costs[todos];
    for (const [index, work] of works.entries()) {
      if (server.name === 'constant' && !READS.has(work)) continue;
      const sent = loadOf(work, server.name, todos, etag);
      // One todo took 1.4 to 2.3 times the constant after a second of it, by what was compiled then; 1.2 to 1.5 after four.
      const before = index === 0 ? firstWarmUp : warmUp;
      if (before > 0) await load(target, sent, before);
      for (const perSecond of rates ?? [undefined]) {
        const cost = await load(
          target,
          { ...sent, perSecond },
          perSecond === undefined ? seconds : secondsAtRate,
        );
        ok(work !== 'unchanged' || cost.bytes < 1_000, `${server.name} answers no 304`);
        keep(costs, workAt(work, perSecond), server.name, cost);
      }
    }
    if (!works.includes('mixed') || server.name === 'constant') return;
    const memory = residentMegabytes(target.pid, 'most');
    keep(figures.sizes, String(todos), server.name, { memory, database: bytes / 1e6, firstList });
  });
}

/**
 * Starts a server on a copy of its own and checks that it answers correctly. Of several instances one is asked, and the
 * others follow its changes. What is opened ends with `parts`.
 */
export async function open(server: Server, databases: Databases, todos: number, parts: AsyncDisposableStack) {
  const trust = { ...testAuth(), secret: Buffer.from(crypto.randomUUID()) };
  const sign = signer(trust);
  const { url, bytes, postmaster } = parts.use(await databases.copy(server.engine, todos));
  const start = async () => parts.use(await server.start(url, trust));
  const { baseUrl, pid } = await start();
  const exp = Math.floor(Date.now() / 1_000) + 86_400;
  const token = sign({ role: 'editor', exp });
  const ask = async (method: string, path: string, wanted: number, by = token, sent?: object) => {
    const headers = {
      authorization: `Bearer ${by}`,
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    };
    const body = sent === undefined ? null : JSON.stringify(sent);
    const answer = await fetch(baseUrl + path, { method, headers, body });
    const text = await answer.text();
    equal(answer.status, wanted, `${server.name} ${method} ${path}: ${text.slice(0, 200)}`);
    return { text, etag: String(answer.headers.get('etag')) };
  };
  const before = threadSeconds(pid);
  const { text } = await ask('GET', '/todos', 200);
  const firstList = (threadSeconds(pid) - before) * 1e3;
  const list = Array.from({ length: todos }, (_, index) => todoNumber(index + 1));
  // Millions would take seconds to compare, as values.
  if (todos <= 10_000) deepEqual(JSON.parse(text), list);
  else equal(text.trim().length, JSON.stringify(list).length);
  const asksFor = async (wanted: unknown, ...words: Parameters<typeof ask>) =>
    deepEqual(JSON.parse((await ask(...words)).text), wanted);
  await asksFor(list[0], 'GET', '/todos/1', 200);
  if (server.name !== 'constant') {
    const [next, body] = [`/todos/${todos + 1}`, { title: 'a', categoryId: 1 }];
    const made = { id: todos + 1, ...body, done: false };
    await ask('GET', next, 404);
    for (const claims of [{ exp: 1 }, { exp, aud: 'another' }, { exp, iss: 'another' }])
      await ask('GET', '/todos/1', 401, sign(claims));
    await ask('GET', '/todos/1', 401, signer({ ...trust, secret: Buffer.from('another') })({ exp }));
    await ask('POST', '/todos', 403, sign({ exp }), body);
    await ask('POST', '/todos', 400, token, { ...body, title: '' });
    await asksFor(made, 'POST', '/todos', 201, token, body);
    await ask('PUT', next, 204, token, { ...body, done: true });
    await asksFor({ ...made, done: true }, 'GET', next, 200);
  }
  const { etag } = await ask('GET', '/todos', 200);
  const others: number[] = [];
  while (others.length < (server.instances ?? 1) - 1) others.push((await start()).pid);
  const target: Target = { token, baseUrl, pid, others, postmaster };
  return { target, etag, bytes, firstList };
}
