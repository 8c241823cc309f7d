import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import { arrayOf, chunkOf, type Segment } from '../list-json.ts';
import { represent } from '../representation.ts';
import { ListChunks } from './list-chunks.ts';
import { todoOf } from './row.ts';
import { migrate } from './schema.ts';

function empty(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  return database;
}

/** The list as it is made of single todos. */
function expected(database: DatabaseSync): string {
  const rows = database.prepare('SELECT id, title, done, category_id FROM todos ORDER BY id').all();
  return `[${rows.map((row) => represent(todoOf(row)).json).join(',')}]`;
}

const textOf = (segments: ReadonlyMap<number, Segment>): string =>
  Buffer.concat(arrayOf(segments)).toString();

test('no todos are an empty array', () => {
  using database = empty();
  assert.equal(textOf(new ListChunks(database).refresh('all').segments), '[]');
});

test('whatever changes, the list is that of single todos, and its tag that of a list read anew', () => {
  const id = fc.integer({ min: 1, max: 2_200 });
  const change = fc.oneof(
    id.map((which) => ({
      sql: "UPDATE todos SET title = title || '!', done = 1 - done WHERE id = ?",
      which,
    })),
    id.map((which) => ({ sql: 'DELETE FROM todos WHERE id = ?', which })),
    fc.constant({ sql: "INSERT INTO todos (title, category_id) SELECT 'new', ? + 1", which: 0 }),
  );
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 }), (rounds) => {
      using database = empty();
      database.exec(`INSERT INTO todos (title, category_id)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i, 1 FROM n`);
      const chunks = new ListChunks(database);
      const segments = new Map(chunks.refresh('all').segments);
      for (const changes of rounds) {
        for (const { sql, which } of changes) database.prepare(sql).run(which);
        const list = chunks.refresh(new Set(changes.map(({ which }) => chunkOf(which))));
        for (const [number, segment] of list.segments) segments.set(number, segment);
        assert.equal(textOf(segments), expected(database));
        assert.equal(list.etag, new ListChunks(database).refresh('all').etag);
      }
    }),
    { numRuns: 20 },
  );
});

test('a change gives its segment of 1,024 todos and the last one anew, and no other', () => {
  using database = empty();
  database.exec(`INSERT INTO todos (title, category_id)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i, 1 FROM n`);
  const chunks = new ListChunks(database);
  assert.deepEqual([...chunks.refresh('all').segments.keys()], [0, 1, 2, 3, 4]);
  assert.deepEqual([...chunks.refresh(new Set([chunkOf(1_500)])).segments.keys()], [1, 4]);
});

test('any title is written as it is in a single todo', () => {
  using database = empty();
  const add = database.prepare('INSERT INTO todos (title, category_id) VALUES (?, 1)');
  for (let unit = 1; unit < 0x3000; unit += 1) add.run(String.fromCodePoint(unit));
  add.run('\u2028\u2029\ufeff\ufffe\uffff\u{10ffff}"\\');
  assert.equal(textOf(new ListChunks(database).refresh('all').segments), expected(database));
});

test('lists that differ have different tags', () => {
  using database = empty();
  const chunks = new ListChunks(database);
  const none = chunks.refresh('all').etag;
  database.exec("INSERT INTO todos (title, category_id) VALUES ('a', 1)");
  assert.notEqual(chunks.refresh(new Set()).etag, none);
  assert.match(none, /^"[0-9a-f]{32}"$/);
});
