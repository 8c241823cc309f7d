import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rm, stat, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { temporaryFolder } from '../folder.ts';
import { compileDisk, noDisk } from './disk.ts';
import { type ServedFile, serveFile } from './served-file.ts';

const skip = noDisk();

interface FailingDisk extends AsyncDisposable {
  readonly served: ServedFile;
  /** From now on, every read of the database fails with this error, or only so many do. */
  breakReads(errno: number, count?: number): Promise<void>;
  /** So many have failed. */
  readsAgain(): Promise<void>;
  /** From now on, every sync fails. */
  breakSyncs(): Promise<void>;
  /** From now on, every sync waits. */
  holdSyncs(): Promise<void>;
  /** A sync does. */
  syncWaits(): Promise<void>;
  mend(): Promise<void>;
}

/** A service on a disk that can be made to fail. @param folder Kept afterwards. */
async function serveOnDisk(folder?: string): Promise<FailingDisk> {
  await using parts = new AsyncDisposableStack();
  const path = folder ?? parts.use(await temporaryFolder()).path;
  const unreadable = join(path, 'unreadable');
  const broken = join(path, 'broken');
  const held = join(path, 'held');
  const variables = {
    DISK_FOLDER: join(path, 'data'),
    DISK_UNREADABLE: unreadable,
    DISK_BROKEN: broken,
    DISK_HELD: held,
  };
  const served = parts.use(await serveFile(path, { ...(await compileDisk(path)), ...variables }));
  const owned = parts.move();
  return {
    served,
    breakReads: (errno, count) => writeFile(unreadable, `${errno} ${count ?? ''}`),
    async readsAgain() {
      while (existsSync(unreadable)) await pause(10);
    },
    breakSyncs: () => writeFile(broken, ''),
    holdSyncs: () => writeFile(held, ''),
    async syncWaits() {
      while ((await stat(held)).size === 0) await pause(10);
    },
    mend: async () => {
      for (const file of [unreadable, broken, held]) await rm(file, { force: true });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test('a list that the disk fails to read is a 503: the fault is not hidden by the end of its transaction', {
  skip,
}, async () => {
  await using disk = await serveOnDisk();
  const { served } = disk;
  assert.equal((await served.ask('GET', '/todos')).status, 200);
  assert.equal(await served.add('a'), 201);
  await disk.breakReads(constants.errno.ETIMEDOUT);
  assert.equal((await served.ask('GET', '/todos')).status, 503);
});

test('while a write waits for a slow disk, todos and the list are read', { skip }, async () => {
  await using disk = await serveOnDisk();
  const { served } = disk;
  assert.equal(await served.add('a'), 201);
  await disk.holdSyncs();
  let answered = false;
  const write = served.add('b').finally(() => {
    answered = true;
  });
  await disk.syncWaits();
  const reads = await Promise.all(['/todos/1', '/todos'].map((path) => served.ask('GET', path)));
  assert.deepEqual([...reads.map(({ status }) => status), answered], [200, 200, false]);
  await disk.mend();
  assert.equal(await write, 201);
});

for (const path of ['/todos', '/todos/1']) {
  test(`D11 · a file of which the disk fails to read once what GET ${path} needs is read whole, and used again`, {
    skip,
  }, async () => {
    await using disk = await serveOnDisk();
    const { served } = disk;
    assert.equal(await served.add('a'), 201);
    await disk.breakReads(constants.errno.EIO, 1);
    const unread = await served.ask('GET', path);
    assert.equal(unread.status, 503);
    assert.equal(unread.headers.get('retry-after'), null);
    await served.logged('database-recovered');
    assert.equal((await served.ask('GET', path)).status, 200);
    assert.equal(await served.add('b'), 201);
    assert.equal((await served.ready()).status, 200);
    const lines = served.log('database-damaged', 'database-recovered', 'crash', 'store-unavailable');
    assert.deepEqual(
      lines.map(({ level, event }) => `${level} ${event}`),
      ['error database-damaged', 'info database-recovered'],
    );
  });

  test(`D11 · a file that the disk reads for neither GET ${path} nor as a whole is not used until a restart`, {
    skip,
  }, async () => {
    await using folder = await temporaryFolder();
    {
      await using disk = await serveOnDisk(folder.path);
      const { served } = disk;
      assert.equal(await served.add('a'), 201);
      await disk.breakReads(constants.errno.EIO, 2);
      assert.equal((await served.ask('GET', path)).status, 503);
      await disk.readsAgain();
      // A second reading would find it sound.
      await pause(1_500);
      for (const [method, each] of [
        ['GET', '/todos/1'],
        ['GET', '/todos'],
        ['DELETE', '/todos/1'],
      ] as const) {
        const refused = await served.ask(method, each);
        assert.equal(refused.status, 503);
        assert.equal(refused.headers.get('retry-after'), null);
      }
      assert.equal((await served.ready()).status, 503);
      const lines = served.log('database-damaged', 'database-recovered', 'crash', 'store-unavailable');
      assert.deepEqual(
        lines.map(({ level, event }) => `${level} ${event}`),
        ['error database-damaged'],
      );
    }
    await using again = await serveFile(folder.path);
    assert.equal((await again.ask('GET', path)).status, 200);
  });
}

test('D9 · a commit whose sync the disk fails is of unknown outcome', { skip }, async () => {
  await using disk = await serveOnDisk();
  await disk.breakSyncs();
  const reply = await disk.served.ask('POST', '/todos', { title: 'a', categoryId: 1 });
  assert.equal(reply.status, 503);
  assert.equal(reply.headers.get('retry-after'), null);
  const { detail } = JSON.parse(await reply.text());
  assert.equal(detail, 'It is unknown whether the change was made. Read before repeating it.');
});

test('/ready turns when a sync of the disk fails, and back when one succeeds, though nobody writes', {
  skip,
}, async () => {
  await using disk = await serveOnDisk();
  const { served } = disk;
  assert.equal(await served.add('a'), 201);
  assert.equal((await served.ready()).status, 200);
  await disk.breakSyncs();
  assert.equal(await served.add('b'), 503);
  const { detail } = await served.readyWith(503);
  assert.equal(detail, 'The database does not answer as it should: disk I/O error.');
  await disk.mend();
  await served.readyWith(200);
  assert.equal(await served.add('c'), 201);
});
