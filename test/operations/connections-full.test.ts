import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { openListeners } from '../../src/http/transport/listeners.ts';
import { tellBy } from '../../src/observe/log.ts';
import { type List, startList } from './list.ts';
import { parseExposition, valuesOf } from './prometheus.ts';
import { Connection } from './raw.ts';

/** The lines about connections: event and listener. */
function toldBy({ log }: List): unknown[] {
  const lines = log.map((line) => JSON.parse(line)).filter(({ event }) => event.startsWith('connections-'));
  return lines.map(({ event, listener }) => [event, listener]);
}

test('D13 · a connection beyond the limit is counted for its listener, and said once', async () => {
  await using list = await startList({ env: { TODO_ADMIN_PORT: '0', TODO_MAX_CONNECTIONS: '2' } });
  await using _first = await Connection.open(list.url);
  await using _second = await Connection.open(list.url);
  for (let more = 0; more < 3; more += 1) {
    await using late = await Connection.open(list.url);
    await late.closed();
  }
  const exposition = parseExposition(await (await fetch(`${list.adminUrl}/metrics`)).text());
  const figures = (name: string) =>
    ['public', 'admin'].map((listener) => valuesOf(exposition, name, { listener })[0]);
  assert.deepEqual(figures('todo_open_connections'), [2, 1]);
  assert.deepEqual(figures('todo_connections_limit'), [2, 100]);
  assert.deepEqual(figures('todo_connections_refused_total'), [3, 0]);
  assert.deepEqual(toldBy(list), [['connections-full', 'public']]);
});

test('D13 · the admin listener counts and says for itself', async () => {
  await using list = await startList({ env: { TODO_ADMIN_PORT: '0' } });
  const crowd = await Promise.all(Array.from({ length: 101 }, () => Connection.open(list.adminUrl)));
  await Promise.race(crowd.map((one) => one.closed()));
  for (const one of crowd) await one[Symbol.asyncDispose]();
  assert.deepEqual(toldBy(list), [['connections-full', 'admin']]);
  let counted: number | undefined;
  while (counted === undefined) {
    const reply = await fetch(`${list.adminUrl}/metrics`).catch(() => undefined);
    if (reply === undefined) continue;
    const exposition = parseExposition(await reply.text());
    counted = valuesOf(exposition, 'todo_connections_refused_total', { listener: 'admin' })[0];
  }
  assert.ok(counted >= 1);
});

/** A listener in this process, and the lines that it tells. */
async function listening() {
  const lines: Record<string, unknown>[] = [];
  const tell = tellBy(pino({}, { write: (line: string) => lines.push(JSON.parse(line)) }));
  const listeners = openListeners({ tell });
  const server = await listeners.listen(() => {}, { host: '127.0.0.1', port: 0 });
  return {
    listeners,
    refuse: () => server.emit('drop'),
    told: () => lines.map(({ event, refused }) => [event, refused]),
  };
}

test('D13 · an episode ends 60 s after the last refused connection', async ({ mock }) => {
  const { listeners, refuse, told } = await listening();
  mock.timers.enable({ apis: ['setTimeout'] });
  refuse();
  mock.timers.tick(59_000);
  refuse();
  mock.timers.tick(59_999);
  assert.deepEqual(told(), [['connections-full', undefined]]);
  mock.timers.tick(1);
  refuse();
  assert.deepEqual(told(), [
    ['connections-full', undefined],
    ['connections-free', 2],
    ['connections-full', undefined],
  ]);
  mock.timers.reset();
  await listeners.drain(0);
});

test('D13 · a stop ends an episode that is under way', async () => {
  const { listeners, refuse, told } = await listening();
  refuse();
  await listeners.drain(0);
  assert.deepEqual(told(), [
    ['connections-full', undefined],
    ['connections-free', 1],
  ]);
});
