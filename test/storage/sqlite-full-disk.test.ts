import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { backupSqlite } from '../../src/store/sqlite/backup.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { mountDisk, noMounts, temporaryFolder } from '../folder.ts';
import { todo } from '../todo.ts';
import { serveFile } from './served-file.ts';
import { addedTo } from './todos.ts';

interface SmallDisk extends AsyncDisposable {
  /** Where it is mounted. */
  readonly data: string;
  /** The folder around it. */
  readonly folder: string;
  fill(): void;
  makeRoom(): void;
}

/** A file system of 512 KiB. */
async function mountSmallDisk(): Promise<SmallDisk> {
  await using parts = new AsyncDisposableStack();
  const { path: folder } = parts.use(await temporaryFolder());
  const data = join(folder, 'data');
  parts.use(mountDisk(data, '512k'));
  const filler = join(data, 'filler');
  const owned = parts.move();
  return {
    data,
    folder,
    fill: () => assert.throws(() => fillWith(filler), { code: 'ENOSPC' }),
    makeRoom: () => rmSync(filler),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function fillWith(path: string): never {
  for (;;) appendFileSync(path, Buffer.alloc(4_096));
}

test('D9 · on a full file system a write is a 503 with Retry-After, reads go on, /ready says why, and room is enough', {
  skip: noMounts,
}, async () => {
  await using disk = await mountSmallDisk();
  await using served = await serveFile(disk.folder);
  assert.equal(await served.add('kept'), 201);
  disk.fill();
  const refused = await served.ask('POST', '/todos', { title: 'too much', categoryId: 1 });
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal((await served.ask('GET', '/todos/1')).status, 200);
  assert.equal(await (await served.ask('GET', '/todos')).text(), JSON.stringify([todo(1, 'kept')]));
  const { status, detail } = await served.ready();
  assert.equal(status, 503);
  assert.equal(detail, 'The database does not answer as it should: database or disk is full.');
  disk.makeRoom();
  assert.equal((await served.ready()).status, 200);
  assert.equal(await served.add('again'), 201);
});

test('/ready turns on a full file system though nobody writes', { skip: noMounts }, async () => {
  await using disk = await mountSmallDisk();
  await using served = await serveFile(disk.folder);
  assert.equal((await served.ready()).status, 200);
  disk.fill();
  await served.readyWith(503);
});

test('a first start on a full file system is refused in one line, and leaves nothing that the next one refuses', {
  skip: noMounts,
}, async () => {
  await using disk = await mountSmallDisk();
  const path = join(disk.data, 'todos.db');
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  rmSync(path);
  disk.fill();
  await assert.rejects(openSqliteStore(path), {
    name: 'StoreNotOpened',
    reason: 'unusable',
    message: `Cannot open the database "${path}": database or disk is full`,
  });
  assert.deepEqual(readdirSync(disk.data).sort(), ['filler', 'todos.db-owner']);
  disk.makeRoom();
  await using store = await openSqliteStore(path);
  await addedTo(store, 'a');
});

test('a backup onto a full file system leaves nothing behind', { skip: noMounts }, async () => {
  await using disk = await mountSmallDisk();
  const path = join(disk.folder, 'todos.db');
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  disk.fill();
  await assert.rejects(backupSqlite(path, join(disk.data, 'copy.db')), { name: 'BackupFailed' });
  assert.deepEqual(readdirSync(disk.data), ['filler']);
});
