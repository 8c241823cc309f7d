import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDemo } from './demo.ts';
import { converse } from './raw.ts';

for (const [environment, route] of [
  ['production', '/todos/:id'],
  ['development', '/Todos/001'],
] as const) {
  test(`in ${environment} the line of a request shows ${route}`, async () => {
    await using demo = await startDemo({ environment, logLevel: 'debug' });
    await (await fetch(`${demo.url}/Todos/001?secret`)).text();
    await (await fetch(`${demo.url}/no/such/path`)).text();
    while (demo.log.filter(({ event }) => event === 'request').length < 2) await new Promise(setImmediate);
    const lines = demo.log.filter(({ event }) => event === 'request');
    assert.deepEqual(
      lines.map((line) => [line.method, line.route, line.status]),
      [
        ['GET', route, 200],
        ['GET', '(no route)', 404],
      ],
    );
  });
}

const CHUNKED = 'POST /todos/1/complete HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';

for (const [fault, body, status] of [
  ['a body turns malformed', 'zz\r\n\r\n', 400],
  ['a body has too many trailer lines', `0\r\n${'X: y\r\n'.repeat(101)}\r\n`, 431],
] as const) {
  test(`where ${fault}, problem and line have one traceId (P5)`, async () => {
    await using demo = await startDemo({ logLevel: 'debug' });
    const [answer] = await converse(demo.url, CHUNKED + body);
    assert.equal(answer?.status, status);
    const line = () => demo.log.find(({ event }) => event === 'request');
    while (line() === undefined) await new Promise(setImmediate);
    assert.equal(line()?.traceId, JSON.parse(answer?.body ?? '').traceId);
  });
}
