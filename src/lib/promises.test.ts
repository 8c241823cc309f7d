import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { listen } from '../../test/support/folder.ts';
import { standStill } from '../../test/support/process-figures.ts';
import { Connection } from '../../test/support/raw.ts';
import { timeLimit, within } from './promises.ts';

const server = createServer();
await listen(server.unref());

/** Sends a byte that arrives while this process stands still, longer than the limits of these tests. */
function arrive(from: Socket): void {
  from.write('a');
  standStill(100);
}

test('after a stall, what has arrived is read before a time limit is over', async () => {
  await using connection = await Connection.to(server);
  const answered = once(connection.socket, 'data').then(() => 'answered');
  const answer = within(50, answered, 'late');
  arrive(connection.peer);
  assert.equal(await answer, 'answered');
});

for (const [what, change] of [
  ['begins a time limit anew', 'refresh'],
  ['ends a time limit', 'clear'],
] as const) {
  test(`after a stall, what has arrived ${what}`, async () => {
    await using connection = await Connection.to(server);
    let over = false;
    const limit = timeLimit(50, () => {
      over = true;
    });
    connection.socket.on('data', limit[change]);
    arrive(connection.peer);
    await once(connection.socket, 'data');
    await new Promise(setImmediate);
    assert.equal(over, false);
    limit.clear();
  });
}

test('a time limit is over when nothing has arrived', async () => {
  assert.equal(await within(1, new Promise(() => {}), 'late'), 'late');
});

test('a time limit that is begun anew when it was over is over again, and one that was ended never', {
  timeout: 60_000,
}, async () => {
  let over = 0;
  const { promise: again, resolve } = Promise.withResolvers<void>();
  const limit = timeLimit(1, () => {
    over += 1;
    if (over === 1) limit.refresh();
    else resolve();
  });
  const ended = timeLimit(1, () => assert.fail('ended'));
  ended.clear();
  await again;
  await new Promise(setImmediate);
});
