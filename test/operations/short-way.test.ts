import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import type { Parts } from '../../src/app.ts';
import { newTodo } from '../storage/todos.ts';
import { Connection, converse, problemOf } from './raw.ts';
import { readRequests, TRACE_ID } from './read-requests.ts';
import { ONLOOKER, openShared, type Shared } from './two-ways.ts';

/** Milliseconds. A deadline that no test gets to. */
const LATER = 60_000;

let shared: Shared;

before(async () => {
  shared = await openShared();
  for (const title of ['Buy milk', 'Käse kaufen 🧀', 'Gone']) await shared.store.add(newTodo(title, 1));
  await shared.store.remove(3);
});

after(() => shared[Symbol.asyncDispose]());

function get(target: string, ...lines: readonly string[]): string {
  const all = ['Host: a', `Authorization: Bearer ${shared.reader}`, ...lines];
  return `GET ${target} HTTP/1.1\r\n${all.map((line) => `${line}\r\n`).join('')}\r\n`;
}

/** Without what differs between any two answers: the time, a new trace and a new span. */
function comparable(received: string): string {
  return received
    .replaceAll(/^Date: .*$/gm, 'Date: now')
    .replaceAll(/"00-([0-9a-f]{32})-[0-9a-f]{16}-/g, (_, trace) =>
      trace === TRACE_ID ? 'its trace-' : 'new-',
    );
}

/** What comes back for these bytes and for a last request that closes. */
async function answersTo(url: string, bytes: string): Promise<string> {
  await using connection = await Connection.open(url);
  connection.socket.write(Buffer.from(bytes + get('/me', 'Connection: close'), 'latin1'));
  await connection.closed();
  return comparable(connection.received());
}

test('random requests get the same bytes on the short way and on the long one', async () => {
  await using short = await shared.open();
  await using long = await shared.open({ observers: [ONLOOKER] });
  const requests = fc.array(readRequests(shared), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(requests, async (pipelined) => {
      const bytes = pipelined.join('');
      const [abbreviated, walked] = await Promise.all([
        answersTo(short.url, bytes),
        answersTo(long.url, bytes),
      ]);
      assert.equal(abbreviated, walked);
    }),
    { numRuns: 1_000, seed: 20261121 },
  );
  assert.ok(long.walked() - short.walked() > 200, `${short.walked()} of ${long.walked()} walked`);
});

test('a todo at hand and a missing one are answered without the walk', async () => {
  await using way = await shared.open();
  await converse(way.url, get('/todos/1') + get('/todos/3', 'Connection: close'));
  const before = way.walked();
  const answers = await converse(
    way.url,
    get('/todos/1') + get('/todos/+1') + get('/todos/3', 'Connection: close'),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 404],
  );
  assert.equal(way.walked(), before);
});

for (const [name, request] of [
  ['a body', () => get('/todos/1', 'Content-Length: 2').concat('{}')],
  ['a precondition', () => get('/todos/1', 'If-None-Match: "x"')],
  ['another token', () => get('/todos/1').replace(shared.reader, shared.expired)],
  ['a missing todo that must not be a problem', () => get('/todos/3', 'Accept: text/html')],
  ['another path', () => get('/todos/1/')],
] as const) {
  test(`${name} is left to the walk`, async () => {
    await using way = await shared.open();
    await converse(way.url, get('/todos/1') + get('/todos/3', 'Connection: close'));
    const before = way.walked();
    await converse(way.url, request() + get('/todos/1', 'Connection: close'));
    assert.equal(way.walked(), before + 1);
  });
}

test('a token that is remembered and has expired is left to the walk', async () => {
  await using way = await shared.open();
  await converse(way.url, get('/todos/1', 'Connection: close'));
  shared.clock.ahead = 3_600_000;
  const answers = await converse(way.url, get('/todos/1', 'Connection: close'));
  shared.clock.ahead = 0;
  assert.equal(problemOf(answers[0]).status, 401);
});

for (const [name, parts] of [
  ['an observer', { observers: [ONLOOKER] }],
  ['an allowed origin', { corsOrigins: ['https://app.example'] }],
] as const) {
  test(`where there is ${name}, every request walks`, async () => {
    await using way = await shared.open(parts);
    await converse(way.url, get('/todos/1') + get('/todos/1') + get('/todos/3', 'Connection: close'));
    assert.equal(way.walked(), 3);
  });
}

test('a request has the same line on the short way and on the long one', async () => {
  const caller = `traceparent: 00-${TRACE_ID}-00f067aa0ba902b7-01`;
  const linesOf = async (parts: Partial<Parts>) => {
    const written: string[] = [];
    const log = pino({ level: 'debug', base: null }, { write: (line) => written.push(line) });
    await using way = await shared.open({ ...parts, log });
    const sent = get('/todos/1', caller) + get('/todos/3', caller) + get('/todos/3', 'Connection: close');
    const problem = problemOf((await converse(way.url, sent)).at(-1));
    return { walked: way.walked(), written, traceId: problem.traceId };
  };
  const short = await linesOf({});
  const long = await linesOf({ observers: [ONLOOKER] });
  assert.deepEqual([short.walked, long.walked], [0, 3]);
  const plain = ({ written, traceId }: typeof short) =>
    written.map((line) =>
      line
        .replace(traceId, 'of the problem')
        .replace(/"time":\d+/, '"time":0')
        .replace(/"milliseconds":\d+(\.\d{1,3})?,/, '"milliseconds":0,')
        .replace(/-[0-9a-f]{16}-01"/, '-span-01"'),
    );
  assert.deepEqual(plain(short), plain(long));
  assert.match(short.written[1] ?? '', /"method":"GET","route":"\/todos\/:id","status":404,/);
});

test('while the service drains, every request walks, and the last answer closes', async () => {
  await using way = await shared.open();
  await using connection = await Connection.open(way.url);
  connection.socket.write(get('/todos/1') + get('/todos/1'));
  await connection.until('"Buy milk"');
  const before = way.walked();
  const drained = way.listeners.drain(LATER);
  connection.socket.write(get('/todos/1') + get('/todos/3') + get('/todos/1'));
  await connection.closed();
  await drained;
  assert.equal(way.walked(), before + 3);
  assert.deepEqual(
    connection.answers().map(({ status, headers }) => [status, headers.get('connection')]),
    [
      [200, 'keep-alive'],
      [200, 'keep-alive'],
      [200, 'keep-alive'],
      [404, 'keep-alive'],
      [200, 'close'],
    ],
  );
});
