import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileDisk, noDisk, runOnDisk } from '../../../test/storage/disk.ts';
import { newDatabase, newPath } from '../../../test/storage/new-files.ts';
import { buffersOf } from '../../lib/answer-body.ts';
import { todoJson } from '../../shared-list/members.ts';
import { chunkOf } from '../list/chunk.ts';
import { ListChunks } from '../list/version.ts';
import { type ListPart, prepareList } from './reader-thread.ts';
import { prepareFind } from './row.ts';
import { migrate } from './schema.ts';

const ALL: ListPart = { chunks: [], from: 0 };

function fill(todos: number): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  database.exec(`INSERT INTO todos (title, category_id)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${todos}) SELECT i, 1 FROM n`);
  return database;
}

/** The list as it is made of single todos. */
function expected(database: DatabaseSync): string {
  const find = prepareFind(database);
  const ids = database.prepare('SELECT id FROM todos ORDER BY id').all();
  const todos = ids.map(({ id }) => find(Number(id)));
  return `[${todos.map((todo) => (todo === undefined ? '' : todoJson(todo))).join(',')}]`;
}

async function textOf(chunks: ListChunks): Promise<string> {
  return String(Buffer.concat(buffersOf((await chunks.version().select()).body)));
}

test('whatever changes, the list is that of single todos', async () => {
  const id = fc.integer({ min: 1, max: 2_200 });
  const change = fc.oneof(
    id.map((which) => ({
      sql: "UPDATE todos SET title = title || '!', done = 1 - done WHERE id = ?",
      which,
    })),
    id.map((which) => ({ sql: 'DELETE FROM todos WHERE id = ?', which })),
    fc.constant({ sql: "INSERT INTO todos (title, category_id) SELECT 'new', ? + 1", which: 0 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 }), async (rounds) => {
      using database = fill(2_000);
      const read = prepareList(database);
      const chunks = new ListChunks();
      for (const [number, chunk] of read(ALL)) chunks.set(number, chunk);
      for (const changes of rounds) {
        for (const { sql, which } of changes) database.prepare(sql).run(which);
        const part = { chunks: changes.map(({ which }) => chunkOf(which)), from: chunks.highest };
        for (const [number, chunk] of read(part)) chunks.set(number, chunk);
        assert.equal(await textOf(chunks), expected(database));
      }
    }),
    { numRuns: 20 },
  );
});

test('a change reads its chunk of 256 todos and the last one, and no other', () => {
  using database = fill(1_000);
  const read = prepareList(database);
  const numbers = (part: ListPart) => read(part).map(([number]) => number);
  assert.deepEqual(numbers(ALL), [0, 1, 2, 3]);
  assert.deepEqual(numbers({ chunks: [chunkOf(300)], from: 3 }), [1, 3]);
});

test('the last possible id costs no look at the ids between', () => {
  using database = fill(1);
  database.exec("INSERT INTO todos (id, title, category_id) VALUES (2147483647, 'last', 1)");
  const numbers = prepareList(database)(ALL).map(([number]) => number);
  assert.deepEqual(numbers, [0, 8_388_607]);
});

test('where the disk does not read the list, that is the error, and not the end of its transaction', {
  skip: noDisk(),
}, async () => {
  const [path, unreadable] = [await newDatabase(), newPath('unreadable')];
  const said = runOnDisk(
    { ...(await compileDisk(dirname(unreadable))), DISK_FOLDER: dirname(path), DISK_UNREADABLE: unreadable },
    `import { writeFileSync } from 'node:fs';
    import { DatabaseSync } from 'node:sqlite';
    import { prepareList } from '${new URL('./reader-thread.ts', import.meta.url)}';
    const read = prepareList(new DatabaseSync('${path}'));
    writeFileSync('${unreadable}', '${constants.errno.ETIMEDOUT}');
    try { read(${JSON.stringify(ALL)}); } catch (error) { console.log(error.message); }`,
  );
  assert.equal(said, 'disk I/O error');
});
