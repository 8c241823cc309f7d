import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { assertRefused, Connection, converse } from '../../test/support/raw.ts';
import type { Event } from '../events.ts';
import { faultAnswers } from '../http/fault-answers.ts';
import { LIMITS } from './limits.ts';
import { openListener } from './listener.ts';

const ADDRESS = { host: '127.0.0.1', port: 0, setting: 'none' };

/** A listener that has not opened its server, and what it logs. */
function makeListener() {
  const log: Event[] = [];
  const messages: unknown[] = [];
  const limits = { ...LIMITS, keepAliveTimeout: 75_000, maxConnections: 2 };
  const listener = openListener({
    name: 'public',
    answers: faultAnswers(),
    limits,
    logEvent(event, more) {
      log.push(event);
      messages.push(more?.message);
    },
  });
  return Object.assign(listener, { log, messages, [Symbol.asyncDispose]: () => listener.drain(0) });
}

test('before it listens a listener has no connections and no limit, and has nothing to wait for at a stop', async () => {
  const listener = makeListener();
  const refused = new Map([400, 408, 417, 431].map((status) => [status, 0]));
  assert.deepEqual(listener.figures, { open: 0, limit: 0, dropped: 0, refused });
  listener.reduceTo(1);
  await listener.drain(0);
  assert.deepEqual(listener.log, []);
});

test('a request that is refused before it is routed is counted by its status, and logged with its detail, else its title, and traceId [P5]', async () => {
  await using listener = makeListener();
  const { url } = await listener.listen(() => assert.fail('it was routed'), ADDRESS);
  const told: Event[] = [];
  for (const [bytes, status] of [
    ['GET / HTTP/1.1\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n', 417],
    ['no HTTP', 400],
  ] as const) {
    const { title, detail = title, traceId } = assertRefused(await converse(url, bytes), status);
    told.push({ event: 'request-refused', status, reason: detail, traceId });
  }
  assert.deepEqual(listener.log, told);
  assert.deepEqual(Object.fromEntries(listener.figures.refused), { 400: 2, 408: 0, 417: 1, 431: 0 });
});

test('fewer connections are taken once the limit is reduced, and one that is refused is counted [D13; D16]', async () => {
  await using listener = makeListener();
  const { url } = await listener.listen(() => {}, ADDRESS);
  listener.reduceTo(1);
  await using first = await Connection.open(url);
  await using second = await Connection.open(url);
  await Promise.race([first.closed(), second.closed()]);
  const { open, limit, dropped } = listener.figures;
  assert.deepEqual({ open, limit, dropped }, { open: 1, limit: 1, dropped: 1 });
});

test('an episode of refusals that a stop ends is logged with that cause [D13]', async () => {
  const listener = makeListener();
  const { server } = await listener.listen(() => {}, ADDRESS);
  server.emit('drop');
  await listener.drain(0);
  assert.deepEqual(listener.log, [
    { event: 'connections-full', listener: 'public' },
    { event: 'connections-free', listener: 'public', refused: 1 },
  ]);
  assert.deepEqual(listener.messages, [undefined, 'the listener has closed']);
});

test('a stop accepts no more connections than its queue has held, however many come [D10]', async () => {
  await using listener = makeListener();
  const { server } = await listener.listen(() => {}, ADDRESS);
  const drained = listener.drain(0);
  while (!listener.draining) {
    server.emit('connection', new Socket());
    await turn();
  }
  await drained;
});
