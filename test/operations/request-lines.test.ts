import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDemo } from './demo.ts';

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
