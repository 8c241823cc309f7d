import { deepEqual, equal } from 'node:assert/strict';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { signer } from '../packages/conformance/src/sign.ts';
import { temporaryFolder } from '../test/support/folder.ts';
import { testAuth } from '../test/support/list.ts';
import { makeTodos } from './endurance/make-todos.ts';
import { type Cost, draw, type Kind, load } from './load.ts';
import type { Server } from './servers.ts';

type Scenario = readonly [title: string, kind: Kind, todos: number];

/** How many todos are in the database when it begins. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  one: ['One todo', 'one', 10_000],
  'list-20': ['List of 20', 'list', 20],
  'list-1000': ['List of 1,000', 'list', 1_000],
  'list-2000': ['List of 2,000', 'list', 2_000],
  'list-10000': ['List of 10,000', 'list', 10_000],
  create: ['Create', 'create', 10_000],
  mixed: ['75 % one, 20 % replace, 5 % list of 1,000', 'mixed', 1_000],
};

/** A title, and by the names of servers their costs in the order of the rounds. */
export type Measured = readonly [string, ReadonlyMap<string, readonly Cost[]>];

/** Seconds are those of load. After three that do not count, the compilers of Node.js and Bun have little left to do. */
export type Flags = Readonly<Record<'rounds' | 'seconds' | 'warmUpSeconds', number>>;

export const CONNECTIONS = 64;

/** Starts and measures servers in turns, each round in the other order, so that other work on the machine hits all alike. */
export async function compare(
  [title, kind, todos]: Scenario,
  servers: readonly Server[],
  folder: string,
  { rounds, seconds, warmUpSeconds }: Flags,
): Promise<Measured> {
  const template = join(folder, `${todos}.db`);
  // A list of 1,000 has 72 KB.
  if (!existsSync(template)) await makeTodos(template, todos, "printf('%023d', i), false, 1");
  const requests = draw(kind, todos);
  const costs = new Map(servers.map(({ name }) => [name, [] as Cost[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
      if (server.name === 'constant' && kind !== 'one' && kind !== 'list') continue;
      await using parts = new AsyncDisposableStack();
      const file = join(parts.use(await temporaryFolder()).path, 'todos.db');
      cpSync(template, file);
      const target = await open(server, file, todos, parts);
      if (warmUpSeconds > 0) await load(target, requests, CONNECTIONS, warmUpSeconds);
      costs.get(server.name)?.push(await load(target, requests, CONNECTIONS, seconds));
    }
  }
  return [title, costs];
}

/** Starts a server and checks that it answers correctly. What is opened ends with `parts`. */
async function open(server: Server, file: string, todos: number, parts: AsyncDisposableStack) {
  const trust = { ...testAuth(), secret: Buffer.from(crypto.randomUUID()) };
  const sign = signer(trust);
  const running = parts.use(await server.start(file, trust));
  const exp = Math.floor(Date.now() / 1_000) + 86_400;
  const token = sign({ role: 'editor', exp });
  const ask = async (method: string, path: string, wanted: number, by = token, sent?: object) => {
    const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json' };
    const body = sent === undefined ? null : JSON.stringify(sent);
    const answer = await fetch(running.baseUrl + path, { method, headers, body });
    const text = await answer.text();
    equal(answer.status, wanted, `${server.name} ${method} ${path}: ${text.slice(0, 200)}`);
    return wanted < 300 && text !== '' ? JSON.parse(text) : undefined;
  };
  const list = Array.from({ length: todos }, (_, index) => {
    return { id: index + 1, title: String(index + 1).padStart(23, '0'), done: false, categoryId: 1 };
  });
  deepEqual(await ask('GET', '/todos', 200), list);
  deepEqual(await ask('GET', '/todos/1', 200), list[0]);
  if (server.name !== 'constant') {
    const [next, body] = [`/todos/${todos + 1}`, { title: 'a', categoryId: 1 }];
    const made = { id: todos + 1, ...body, done: false };
    await ask('GET', next, 404);
    for (const claims of [{ exp: 1 }, { exp, aud: 'another' }, { exp, iss: 'another' }])
      await ask('GET', '/todos/1', 401, sign(claims));
    await ask('GET', '/todos/1', 401, signer({ ...trust, secret: Buffer.from('another') })({ exp }));
    await ask('POST', '/todos', 403, sign({ exp }), body);
    await ask('POST', '/todos', 400, token, { ...body, title: '' });
    deepEqual(await ask('POST', '/todos', 201, token, body), made);
    await ask('PUT', next, 204, token, { ...body, done: true });
    deepEqual(await ask('GET', next, 200), { ...made, done: true });
  }
  return { token, servers: [running] };
}
