import assert from 'node:assert/strict';
import { closeSync, openSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { migrateSqlite } from '../../src/store/sqlite/operator.ts';
import { temporaryFolder } from '../folder.ts';
import { serveFile } from './served-file.ts';

/** A folder with a database of 2,000 todos, one page of which is garbage, and an id that was on this page. */
async function damagedFile(): Promise<{ folder: string; id: number } & AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await temporaryFolder());
  const path = join(folder.path, 'data', 'todos.db');
  await migrateSqlite(path);
  const { page, id } = fill(path);
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(4_096, 'garbage'), 0, 4_096, (page - 1) * 4_096);
  closeSync(file);
  const owned = parts.move();
  return { folder: folder.path, id, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Adds todos; the fifth leaf of their tree, and the id that begins there. */
function fill(path: string): { page: number; id: number } {
  using file = new DatabaseSync(path);
  file.exec(`INSERT INTO todos (title, category_id)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT printf('Todo %d', i), 1 FROM n`);
  const leaves = file
    .prepare("SELECT pageno, ncell FROM dbstat WHERE name = 'todos' AND pagetype = 'leaf' ORDER BY path")
    .all();
  const before = leaves.slice(0, 4).reduce((sum, { ncell }) => sum + Number(ncell), 0);
  return { page: Number(leaves[4]?.pageno), id: before + 1 };
}

for (const [what, pathOf] of [
  ['a todo', (id: number) => `/todos/${id}`],
  ['the list', () => '/todos'],
] as const) {
  test(`D11 · a corrupt page that ${what} meets is a 503 without Retry-After, and so is all that follows`, async () => {
    await using file = await damagedFile();
    await using served = await serveFile(file.folder);
    assert.equal((await served.ask('GET', '/todos/1')).status, 200);
    assert.equal((await served.ready()).status, 200);
    for (const [method, path] of [
      ['GET', pathOf(file.id)],
      ['POST', '/todos'],
      ['GET', '/todos/1'],
      ['GET', '/todos'],
    ] as const) {
      const body = method === 'POST' ? { title: 'refused', categoryId: 1 } : undefined;
      const reply = await served.ask(method, path, body);
      assert.equal(reply.status, 503, `${method} ${path}`);
      assert.equal(reply.headers.get('retry-after'), null);
    }
    assert.equal((await served.ready()).status, 503);
    // A stop waits until the file has been read whole.
    assert.equal(await served.service.stop(), 0);
    assert.deepEqual(
      served
        .log('database-damaged', 'database-recovered', 'crash', 'store-unavailable')
        .map(({ level, event, reason, path, msg }) => ({ level, event, reason, path, msg })),
      [
        {
          level: 'error',
          event: 'database-damaged',
          reason: 'database disk image is malformed',
          path: served.path,
          msg: 'the database file is damaged, or its disk did not read it. It is read whole now; unless it is sound, it is used again only after a restart. Run "todo-service check"',
        },
      ],
    );
  });
}

test('D11 · a write that meets a corrupt page is a 503, not a crash', async () => {
  await using file = await damagedFile();
  await using served = await serveFile(file.folder);
  const reply = await served.ask('PUT', `/todos/${file.id}`, { title: 'a', categoryId: 1 });
  assert.equal(reply.status, 503);
  assert.equal(reply.headers.get('retry-after'), null);
  assert.equal(served.log('database-damaged').length, 1);
  assert.deepEqual(served.log('crash'), []);
});

test('D11 · a file that is cut short under the service is a 503, not a crash', async () => {
  await using file = await damagedFile();
  await using served = await serveFile(file.folder);
  truncateSync(served.path, 8_192);
  assert.equal((await served.ask('GET', '/todos/2000')).status, 503);
  assert.equal(served.log('database-damaged').length, 1);
  assert.deepEqual(served.log('crash'), []);
});
