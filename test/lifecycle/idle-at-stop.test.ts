import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { beginDrain, startDemo } from '../support/demo.ts';
import { Connection } from '../support/raw.ts';

const GET = 'GET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n';

for (const [requests, idleMs, what] of [
  [1, 500, 'closes at once'],
  [1, 499, 'may still ask'],
  [2, 2_000, 'closes at once'],
  [2, 1_999, 'may still ask'],
] as const) {
  test(`at a stop a connection that has been idle for ${idleMs} ms after ${requests} answers ${what} [D10]`, async ({
    mock,
  }) => {
    let now = 1_000;
    mock.method(performance, 'now', () => now);
    await using demo = await startDemo();
    await using connection = await Connection.open(demo.url);
    for (let sent = 1; sent <= requests; sent += 1) {
      now += 1_999;
      connection.socket.write(GET);
      while (connection.received().split('"done"').length <= sent) await setImmediate();
    }
    now += idleMs;
    // No later look at idle connections comes.
    mock.timers.enable({ apis: ['setTimeout'] });
    const { drained } = await beginDrain(demo);
    mock.timers.tick(1);
    for (let turns = 0; turns < 20; turns += 1) await setImmediate();
    connection.socket.write(GET);
    await connection.closed();
    const answered = Array(requests).fill('200 keep-alive');
    assert.deepEqual(connection.ends(), what === 'may still ask' ? [...answered, '200 close'] : answered);
    mock.timers.tick(100);
    await drained;
  });
}
