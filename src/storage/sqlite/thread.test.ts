import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPath } from '../../../test/storage/new-files.ts';
import { Thread } from './thread.ts';

const FILE = { name: '', path: '', identities: new Map() };

/** A thread whose module is this text, one that writes unless `onChanged` is undefined. */
const threadOf = (module: string, onChanged: (() => void) | undefined) =>
  new Thread<string, string>(new URL(`data:text/javascript,${encodeURIComponent(module)}`), FILE, onChanged);

const ignored = () => {};

const ECHO = `import { parentPort } from 'node:worker_threads';
  parentPort.on('message', (order) => {
    if (order === 'close') parentPort.close();
    else if (order === 'end') process.exit();
    else parentPort.postMessage({ answer: order });
  });`;

/** The beginning of a thread that writes. */
const WRITER = `${ECHO} parentPort.postMessage('changed');`;

test('a thread answers one order after the other, and is started by the first', async () => {
  await using thread = threadOf(ECHO, ignored);
  assert.equal(await thread.ask('a'), 'a');
  assert.equal(await thread.ask('b'), 'b');
});

/** The messages name SQLite's threads by the end of their address. */
const MESSAGE = /^The thread .* (?:ended by itself(?:: (?!undefined).+)?|was closed)$/s;

async function isFailure(answer: Promise<unknown>, failure: string): Promise<void> {
  const { message, ...rest } = Object(await answer);
  assert.match(message, MESSAGE);
  assert.deepEqual(rest, { failure });
}

test('a thread that ends with an order in hand leaves a write unknown, a read undone, and the next order starts it anew', async () => {
  for (const [ended, module, onChanged] of [
    ['unknown', WRITER, ignored],
    ['unavailable', ECHO, undefined],
  ] as const) {
    await using thread = threadOf(module, onChanged);
    assert.equal(await thread.ask('a'), 'a');
    await isFailure(thread.ask('end'), ended);
    assert.equal(await thread.ask('b'), 'b');
  }
});

const DAMAGE = 'throw Object.assign(new Error("database disk image is malformed"), { errcode: 11 });';

test('a thread that meets damage with an order in hand leaves a write unknown too', async () => {
  await using thread = threadOf(
    `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', () => { ${DAMAGE} });
    parentPort.postMessage('changed');`,
    ignored,
  );
  await isFailure(thread.ask('a'), 'unknown');
});

test('a thread that cannot begin has changed nothing', async () => {
  await using thread = threadOf('throw new Error("no file")', ignored);
  await isFailure(thread.ask('a'), 'unavailable');
});

test('a thread that ends before its first order does no harm', async () => {
  for (const thrown of [DAMAGE, 'throw new Error("no file")']) {
    const ended = Promise.withResolvers<void>();
    await using thread = threadOf(thrown, ended.resolve);
    thread.start();
    await ended.promise;
  }
});

test('a thread that the machine does not start is a failure each time, and no exception', async () => {
  await using thread = new Thread<string, string>(new URL('http://host/x.ts'), FILE);
  const message =
    'The thread x.ts cannot be started: The URL must be of scheme file (ERR_INVALID_URL_SCHEME)';
  const failure = { failure: 'unavailable', message };
  assert.deepEqual(thread.start(), failure);
  for (const order of ['a', 'b']) assert.deepEqual(await thread.ask(order), failure);
});

test('why a thread ended is said, without a path', async () => {
  for (const [thrown, said] of [
    [
      `Object.assign(new Error("EMFILE: too many open files, open '/data/x'"), { code: 'EMFILE' })`,
      'EMFILE: too many open files, open',
    ],
    [
      `Object.assign(new Error('unable to open database file'), { code: 'ERR_SQLITE_ERROR', errcode: 14 })`,
      'unable to open database file',
    ],
  ] as const) {
    await using thread = threadOf(`throw ${thrown}`, ignored);
    const { message } = Object(await thread.ask('a'));
    assert.equal(message.split(' ended by itself: ')[1], said);
  }
});

test('a thread that cannot begin because the file is damaged says so', async () => {
  await using thread = threadOf(DAMAGE, ignored);
  assert.deepEqual(await thread.ask('a'), {
    failure: 'broken',
    state: 'damaged',
    message: 'database disk image is malformed',
  });
});

test('a thread that is started twice is one, and what it tells unasked is heard', async () => {
  let changes = 0;
  const heard = Promise.withResolvers<void>();
  await using thread = threadOf(WRITER, () => {
    changes += 1;
    heard.resolve();
  });
  thread.start();
  thread.start();
  await heard.promise;
  assert.equal(await thread.ask('a'), 'a');
  assert.equal(changes, 1);
});

test('a thread that writes and ends by itself is told of and started anew at once, one that is closed is not', async () => {
  let changes = 0;
  const anew = Promise.withResolvers<void>();
  {
    await using thread = threadOf(WRITER, () => {
      changes += 1;
      // At its start, its end, and its second start.
      if (changes === 3) anew.resolve();
    });
    await isFailure(thread.ask('end'), 'unknown');
    await anew.promise;
  }
  assert.equal(changes, 3);
});

test('a thread that writes and could not even begin waits for the next order', async () => {
  let changes = 0;
  await using thread = threadOf('throw new Error("no file")', () => {
    changes += 1;
  });
  for (const ended of [1, 2]) {
    await isFailure(thread.ask('a'), 'unavailable');
    // A thread that was started again would have ended before these have begun and answered.
    for (const order of ['b', 'c']) {
      await using other = threadOf(ECHO, ignored);
      assert.equal(await other.ask(order), order);
    }
    assert.equal(changes, ended);
  }
});

test('a thread that has written, ended and cannot begin again is started no more until the next order', async () => {
  const begun = newPath('begun');
  let changes = 0;
  const ended = Promise.withResolvers<void>();
  await using thread = threadOf(
    `import { existsSync, writeFileSync } from 'node:fs';
    if (existsSync('${begun}')) throw new Error('no file');
    writeFileSync('${begun}', '');
    ${WRITER}`,
    () => {
      changes += 1;
      // At its start, its end, and the end of its second start.
      if (changes === 3) ended.resolve();
    },
  );
  await isFailure(thread.ask('end'), 'unknown');
  await ended.promise;
  await isFailure(thread.ask('a'), 'unavailable');
  assert.equal(changes, 4);
});

test('a thread that was closed takes no order, and is not started anew', async () => {
  const thread = threadOf(ECHO, ignored);
  assert.equal(await thread.ask('a'), 'a');
  await thread[Symbol.asyncDispose]();
  await isFailure(thread.ask('b'), 'unavailable');
  assert.equal(thread.start()?.failure, 'unavailable');
});

test('a thread that fails while it closes has closed', async () => {
  const module = `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', (order) => {
      if (order === 'close') throw new Error('the file cannot be closed');
      parentPort.postMessage({ answer: order });
    });`;
  const thread = threadOf(module, ignored);
  assert.equal(await thread.ask('a'), 'a');
  await assert.doesNotReject(thread[Symbol.asyncDispose]());
});
