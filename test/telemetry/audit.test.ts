import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { assertProblem } from '../../packages/conformance/src/problem.ts';
import { signer } from '../../packages/conformance/src/sign.ts';
import { makeTodo, write } from '../../packages/conformance/src/target.ts';
import type { Todo } from '../../src/shared-list/members.ts';
import { startDemo } from '../support/demo.ts';
import { temporaryFolder } from '../support/folder.ts';
import { type List, startList, testAuth } from '../support/list.ts';
import { scrape, valuesOf } from '../support/prometheus.ts';
import { statusesOf, together } from '../support/raw.ts';
import { type Running, startService } from '../support/start.ts';

const MILK = { title: 'Buy milk', categoryId: 1 };

interface Line {
  readonly event: string;
  readonly id?: number;
  readonly traceId: string;
}

/** Whose requests a service gets. */
interface Caller {
  readonly url: string;
  readonly token: string;
}

/** By `fetch`, which keeps its connections. */
function ask({ url, token }: Caller, method: string, path: string, body?: object, headers = {}) {
  return fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
}

const IS_ABOUT_TODOS = /"event":"todo-/;

function aboutTodos(lines: readonly string[]): Line[] {
  return lines.filter((line) => IS_ABOUT_TODOS.test(line)).map((line) => JSON.parse(line));
}

/** What happened to which todo. */
function happenedIn({ log }: List): string[] {
  return aboutTodos(log).map(({ event, id }) => `${event} ${id}`);
}

/** The lines about todos as they stand, from `event` to the message. */
function textsIn({ log }: List): string[] {
  return log
    .filter((line) => IS_ABOUT_TODOS.test(line))
    .map((line) => line.slice(line.indexOf('"event"'), line.indexOf(',"msg"')));
}

/** The trace of a caller, which the service goes on with. */
function newTrace() {
  const trace = randomBytes(16).toString('hex');
  return { trace, headers: { traceparent: `00-${trace}-${randomBytes(8).toString('hex')}-00` } };
}

function traceOf({ traceId }: Line): string {
  return traceId.slice(3, 35);
}

describe('The lines about todos', () => {
  test('each change leaves one: who made it, what became of which todo, and never a title', async () => {
    await using list = await startList();
    const { trace, headers } = newTrace();
    await list.send('POST /todos', { json: MILK, headers });
    await list.send('PUT /todos/1', { json: { ...MILK, done: true }, headers });
    await list.send('DELETE /todos/1', { headers });
    assert.deepEqual(
      textsIn(list).map((line) => line.replace(/-[0-9a-f]{16}-00"$/, '"')),
      ['todo-created', 'todo-replaced', 'todo-deleted'].map(
        (event) => `"event":"${event}","id":1,"subject":"test","name":"ada","traceId":"00-${trace}"`,
      ),
    );
    assert.ok(list.log.every((line) => !line.includes(MILK.title)));
  });

  test('what changed nothing leaves none', async () => {
    await using list = await startList();
    for (const [status, line, request] of [
      [200, 'GET /todos', {}],
      [400, 'POST /todos', { json: { title: '', categoryId: 1 } }],
      [400, 'POST /todos', { json: { title: 'a', categoryId: 99 } }],
      [404, 'PUT /todos/1', { json: MILK }],
      [404, 'DELETE /todos/1', {}],
      [401, 'POST /todos', { json: MILK, token: 'nobody' }],
      [201, 'POST /todos', { json: MILK }],
      [412, 'DELETE /todos/1', { headers: { 'If-Match': '"stale"' } }],
    ] as const) {
      assert.equal((await list.send(line, request)).status, status);
    }
    assert.deepEqual(happenedIn(list), ['todo-created 1']);
  });

  test('a create that is repeated leaves none', async () => {
    await using list = await startList();
    const create = () => list.send('POST /todos', { json: MILK, headers: { 'Idempotency-Key': 'a' } });
    // On a busy machine the first takes longer than the others wait.
    const repeat = async () => {
      for (;;) {
        const reply = await create();
        if (reply.status !== 409) return reply;
      }
    };
    const answers = [...(await Promise.all([repeat(), repeat(), repeat()])), await repeat()];
    assert.deepEqual(statusesOf(answers), [201, 201, 201, 201]);
    assert.deepEqual(happenedIn(list), ['todo-created 1']);
  });

  test('a write that is refused for its role leaves one of its own', async () => {
    await using list = await startList();
    const refused = async (line: string) =>
      assertProblem(await list.send(line, { token: list.reader }), 403).traceId;
    const traceIds = [await refused('POST /todos'), await refused('DELETE /todos/7')];
    assert.deepEqual(textsIn(list), [
      `"event":"todo-write-refused","method":"POST","subject":"test","name":"bob","traceId":"${traceIds[0]}"`,
      `"event":"todo-write-refused","method":"DELETE","id":7,"subject":"test","name":"bob","traceId":"${traceIds[1]}"`,
    ]);
  });

  test('a subject and a name are cut at 200 code points, and their controls are escaped; without them they are null', async () => {
    const auth = testAuth();
    const sign = signer(auth);
    await using service = await startService({ auth });
    const sub = `\u001b[31m${'🦆'.repeat(300)}`;
    for (const claims of [{ sub, name: `a\u202e\n${'b'.repeat(300)}` }, { sub: undefined }]) {
      const token = sign({ ...claims, role: 'editor' });
      assert.equal((await ask({ url: service.baseUrl, token }, 'POST', '/todos', MILK)).status, 201);
    }
    await service.stop();
    const [long = '', none = ''] = linesOf(service).filter((text) => text.includes('todo-created'));
    assert.match(long, /^\{"level":"info",.*"subject":"\\u001b\[31m🦆{195}","name":"a\\u202e\\nb{197}"/u);
    assert.match(none, /"event":"todo-created","id":2,"subject":null,"name":null/);
  });

  for (const options of [{ env: { TODO_AUDIT: 'off' } }, { logLevel: 'warn' }]) {
    test(`none is written with ${JSON.stringify(options)}`, async () => {
      await using list = await startList(options);
      await makeTodo(list.target);
      assertProblem(await list.send('POST /todos', { json: MILK, token: list.reader }), 403);
      assert.deepEqual(happenedIn(list), []);
    });
  }

  test('in the error demo, a todo that is completed leaves one, and only once', async () => {
    await using demo = await startDemo();
    for (const status of [200, 409]) {
      assert.equal((await fetch(`${demo.url}/todos/1/complete`, { method: 'POST' })).status, status);
    }
    const [line, ...others] = demo.log.filter(({ event }) => event === 'todo-completed');
    assert.deepEqual(others, []);
    assert.deepEqual(Object.keys(line ?? {}).slice(-4), ['event', 'id', 'traceId', 'msg']);
  });
});

/** What became of writes that were acknowledged, by their traces. */
type Acknowledged = Map<string, { readonly event: string; readonly id: number }>;

/** Adds todos, and replaces those of one shared handful, until nobody answers. */
async function keepWriting(
  caller: Caller,
  shared: readonly number[],
  seed: number,
  acknowledged: Acknowledged,
) {
  try {
    for (let step = seed; ; step += 1) {
      const { trace, headers } = newTrace();
      const body = { title: titleOf(trace), categoryId: 1 };
      const known = shared[step % shared.length] ?? 0;
      const creates = step % 3 === 0;
      const response = await (creates
        ? ask(caller, 'POST', '/todos', body, headers)
        : ask(caller, 'PUT', `/todos/${known}`, body, headers));
      assert.ok(response.ok, `${response.status}`);
      const id = creates ? ((await response.json()) as Todo).id : known;
      acknowledged.set(trace, { event: creates ? 'todo-created' : 'todo-replaced', id });
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

/** Tells a write, and stands in no line. */
function titleOf(trace: string): string {
  return `written by ${[...trace].reverse().join('')}`;
}

const SHARED = [1, 2, 3, 4];

/** Sixteen clients write to one service, until it is stopped by `signal` in the middle of it. */
async function writeUntil(signal: 'SIGTERM' | 'SIGKILL', dataDir: string) {
  const auth = testAuth();
  const service = await startService({ auth, dataDir });
  const caller = { url: service.baseUrl, token: signer(auth)({ role: 'editor' }) };
  for (const id of SHARED)
    assert.equal((await ask(caller, 'POST', '/todos', MILK)).headers.get('location'), `/todos/${id}`);
  const acknowledged: Acknowledged = new Map();
  const writing = Array.from({ length: 16 }, (_, seed) => keepWriting(caller, SHARED, seed, acknowledged));
  while (acknowledged.size < 500) await pause(10);
  const [code] = await Promise.all([service.stop(signal), ...writing]);
  const lines = aboutTodos(linesOf(service)).slice(SHARED.length);
  const again = await startService({ auth, dataDir });
  const list = await ask({ ...caller, url: again.baseUrl }, 'GET', '/todos');
  const todos = (await list.json()) as readonly Todo[];
  await again.stop();
  return { code, lines, acknowledged, todos };
}

/** Whole lines: a process that is killed may leave a piece of one. */
function linesOf(service: Running): string[] {
  return service.stdout().split('\n').slice(0, -1);
}

describe('The lines about todos, under load', { concurrency: 1 }, () => {
  test('up to a stop, each acknowledged write has one, in the order of the commits', async () => {
    await using folder = await temporaryFolder();
    const { code, lines, acknowledged, todos } = await writeUntil('SIGTERM', folder.path);
    assert.equal(code, 0);
    assert.equal(lines.length, acknowledged.size);
    for (const line of lines) {
      const { event, id } = acknowledged.get(traceOf(line)) ?? {};
      assert.deepEqual({ event: line.event, id: line.id }, { event, id });
    }
    // Ids are given in the order of the commits.
    const created = lines.flatMap(({ event, id }) =>
      event === 'todo-created' && id !== undefined ? id : [],
    );
    assert.deepEqual(
      created,
      created.toSorted((a, b) => a - b),
    );
    // What a todo holds is what the last line about it says.
    const last = new Map(lines.map((line) => [line.id, titleOf(traceOf(line))]));
    for (const { id, title } of todos) assert.equal(title, last.get(id) ?? MILK.title);
  });

  test('after kill -9, none is about a write that is not there, and only the last batch may lack its own', async () => {
    await using folder = await temporaryFolder();
    const { lines, acknowledged, todos } = await writeUntil('SIGKILL', folder.path);
    const ids = new Set(todos.map(({ id }) => id));
    for (const { id = 0 } of lines) assert.ok(ids.has(id), `todo ${id}`);
    assert.equal(new Set(lines.map(traceOf)).size, lines.length);
    const written = new Set(lines.map(traceOf));
    const lacking = [...acknowledged.keys()].filter((trace) => !written.has(trace));
    // Each of the clients has one write in a batch at most.
    assert.ok(lacking.length <= 16, `${lacking.length} lines are missing`);
    const lastLine = Math.max(...lines.map(({ event, id = 0 }) => (event === 'todo-created' ? id : 0)));
    for (const trace of lacking) {
      const { event, id = 0 } = acknowledged.get(trace) ?? {};
      if (event === 'todo-created') assert.ok(id > lastLine, `todo ${id} lacks its line`);
    }
  });

  test('changes of one batch have theirs in the order in which they were made', async () => {
    await using list = await startList({ env: { TODO_ADMIN_PORT: '0' } });
    for (let id = 1; id <= 3; id += 1) await makeTodo(list.target);
    const request = (line: string, headers = {}) =>
      write(list.target, line, { token: list.editor, json: MILK, headers });
    await together(list.url, [
      request('POST /todos', { 'Idempotency-Key': 'a' }),
      request('PUT /todos/1'),
      request('POST /todos'),
      request('DELETE /todos/2'),
      request('POST /todos', { 'Idempotency-Key': 'b' }),
      request('PUT /todos/3'),
    ]);
    assert.deepEqual(valuesOf(await scrape(list.adminUrl), 'todo_commit_writes_count'), [4]);
    const [first, second, third] = ['todo-created 4', 'todo-created 5', 'todo-created 6'];
    assert.deepEqual(happenedIn(list).slice(3), [
      first,
      'todo-replaced 1',
      second,
      'todo-deleted 2',
      third,
      'todo-replaced 3',
    ]);
  });
});

const PAGE = readFileSync(new URL('../../docs/logging.md', import.meta.url), 'utf8');

const questions = Array.from(PAGE.matchAll(/```sh\n(jq [^`]+)```/g), ([, text = '']) => text);

const withJq = {
  skip: spawnSync('jq', ['--version']).error && 'jq is not there: it comes from Debian or its kin',
};

describe('The questions to the log that docs/logging.md has', withJq, () => {
  test('say who wrote this month, and what happened to one todo, within a millisecond too', async () => {
    await using folder = await temporaryFolder();
    const auth = testAuth();
    const sign = signer(auth);
    await using service = await startService({ auth });
    const as = (claims: object) => ({ url: service.baseUrl, token: sign({ role: 'editor', ...claims }) });
    const ada = as({ sub: 'a-1', name: 'Ada' });
    const bob = as({ sub: 'b-2', name: 'Bob \u202e"x' });
    const eve = { url: service.baseUrl, token: sign({ sub: 'e-3', name: 'Eve' }) };
    for (let id = 1; id <= 17; id += 1) await ask(ada, 'POST', '/todos', MILK);
    await ask(bob, 'PUT', '/todos/17', { ...MILK, done: true });
    await ask(eve, 'DELETE', '/todos/17');
    await ask(bob, 'DELETE', '/todos/17');
    await service.stop();
    const longAgo = ['todo-replaced', 'todo-deleted'].map(
      (event) => `{"time":"2001-01-01T00:00:00.000Z","event":"${event}","id":17,"subject":"old","name":null}`,
    );
    const others = ['no JSON', '17', 'null', '"todo-created"', '{"event":17}', ...longAgo];
    writeFileSync(join(folder.path, 'todo-service.log'), `${others.join('\n')}\n${service.stdout()}`);

    const answersTo = (question = '') =>
      execFileSync('bash', ['-euo', 'pipefail', '-c', question], { cwd: folder.path, encoding: 'utf8' })
        .trimEnd()
        .split('\n');
    assert.equal(questions.length, 2);
    assert.deepEqual(
      answersTo(questions[0]).map((line) => line.trim()),
      ['17 ["a-1","Ada"]', '2 ["b-2","Bob \\u202e\\"x"]'],
    );
    assert.deepEqual(
      answersTo(questions[1]).map((line) => JSON.parse(line).slice(1, 3)),
      [
        ['todo-replaced', 'old'],
        ['todo-deleted', 'old'],
        ['todo-created', 'a-1'],
        ['todo-replaced', 'b-2'],
        ['todo-write-refused', 'e-3'],
        ['todo-deleted', 'b-2'],
      ],
    );
  });
});
