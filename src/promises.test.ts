import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { timeLimit, within } from './promises.ts';

/** Two ends of a connection. */
async function connected() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[far]] = await Promise.all([once(server, 'connection'), once(near, 'connect')]);
  return {
    near,
    far: far as Socket,
    [Symbol.dispose]() {
      near.destroy();
      server.close();
    },
  };
}

/** Sends a byte that arrives while this process stands still, longer than the limits of these tests. */
function arrive(from: Socket): void {
  from.write('a');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}

test('after a stall, what has arrived is read before a time limit is over', async () => {
  using ends = await connected();
  const answered = once(ends.near, 'data').then(() => 'answered');
  const answer = within(50, answered, 'late');
  arrive(ends.far);
  assert.equal(await answer, 'answered');
});

for (const [what, change] of [
  ['begins a time limit anew', 'refresh'],
  ['ends a time limit', 'clear'],
] as const) {
  test(`after a stall, what has arrived ${what}`, async () => {
    using ends = await connected();
    let over = false;
    const limit = timeLimit(50, () => {
      over = true;
    });
    ends.near.on('data', limit[change]);
    arrive(ends.far);
    await once(ends.near, 'data');
    await new Promise(setImmediate);
    assert.equal(over, false);
    limit.clear();
  });
}

test('a time limit is over when nothing has arrived', async () => {
  assert.equal(await within(1, new Promise(() => {}), 'late'), 'late');
});

test('a time limit that is begun anew when it was over is over again, and one that was ended never', async () => {
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
