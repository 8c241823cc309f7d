import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDemo } from './demo.ts';
import { Connection } from './raw.ts';

const GET = 'GET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n';

test('D13 · one connection too many is closed, and the others are served as before', async () => {
  await using demo = await startDemo({ limits: { maxConnections: 3 } });
  const members = await Promise.all([1, 2, 3].map(() => Connection.open(demo.url)));
  for (const member of members) member.socket.write(GET);
  await Promise.all(members.map((member) => member.until('\r\n\r\n{')));

  await using late = await Connection.open(demo.url);
  late.socket.write(GET);
  await late.closed();
  assert.equal(late.received(), '');

  for (const member of members) member.socket.write(GET.replace('todos/1', 'todos/2'));
  await Promise.all(members.map((member) => member.until('404 Not Found')));
  for (const member of members) await member[Symbol.asyncDispose]();
});

test('a place that becomes free is given to the next', async () => {
  await using demo = await startDemo({ limits: { maxConnections: 1 } });
  const first = await Connection.open(demo.url);
  first.socket.write(GET);
  await first.until('200 OK');
  await first[Symbol.asyncDispose]();
  for (;;) {
    await using next = await Connection.open(demo.url);
    next.socket.write(GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    await next.closed();
    if (next.received().startsWith('HTTP/1.1 200 OK')) return;
    assert.equal(next.received(), '');
  }
});

test('a flood of 1,000 connections that come and go leaves the service as it was', async () => {
  await using demo = await startDemo({ limits: { maxConnections: 100 } });
  await using steady = await Connection.open(demo.url);
  steady.socket.write(GET);
  await steady.until('200 OK');
  for (let round = 0; round < 10; round += 1) {
    const crowd = await Promise.all(Array.from({ length: 100 }, () => Connection.open(demo.url)));
    for (const one of crowd) one.socket.resetAndDestroy();
    await Promise.all(crowd.map((one) => one.closed()));
  }
  steady.socket.write(GET.replace('todos/1', 'todos/2'));
  await steady.until('404 Not Found');
});
