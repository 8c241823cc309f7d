import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { beginDrain, startDemo } from '../support/demo.ts';
import { Connection } from '../support/raw.ts';

const GET = 'GET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n';

for (const [idleMs, ends] of [
  [500, ['200 keep-alive']],
  [499, ['200 keep-alive', '200 close']],
] as const) {
  const what = ends.length === 1 ? 'closes at once' : 'may still ask';
  test(`at a stop a connection that has been idle for ${idleMs} ms ${what} [D10]`, async ({ mock }) => {
    let now = 1_000;
    mock.method(performance, 'now', () => now);
    await using demo = await startDemo();
    await using connection = await Connection.open(demo.url);
    connection.socket.write(GET);
    await connection.until('\r\n\r\n{');
    now += idleMs;
    // No later look at idle connections comes.
    mock.timers.enable({ apis: ['setTimeout'] });
    const { drained } = await beginDrain(demo);
    mock.timers.tick(1);
    for (let turns = 0; turns < 20; turns += 1) await setImmediate();
    connection.socket.write(GET);
    await connection.closed();
    assert.deepEqual(connection.ends(), ends);
    mock.timers.tick(100);
    await drained;
  });
}
