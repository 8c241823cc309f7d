import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { compileDisk, noDisk, runOnDisk } from '../../../test/storage/disk.ts';
import { newDatabase, newPath } from '../../../test/storage/new-files.ts';
import { replacement } from '../../../test/storage/todos.ts';
import { represent } from '../../shared-list/members.ts';
import { makeDurable } from './durability.ts';
import { migrate } from './schema.ts';
import { prepareBatches, type Write } from './writer-thread.ts';

const skip = noDisk();
const library = skip === false ? await compileDisk(dirname(newPath())) : {};

const GONE = { failure: 'broken', state: 'gone', message: 'it was deleted' } as const;

const MILK = replacement('milk', false, 1);
const TEA = replacement('tea', true, 2);
const NO_CATEGORY = replacement('milk', false, 9);

const add = (todo = MILK, key?: string, body = 'milk'): Write => ({
  kind: 'add',
  todo,
  once: key === undefined ? undefined : { key, body },
});
const replace = (id: number, todo = TEA, preconditions = {}): Write => ({
  kind: 'replace',
  id,
  todo,
  preconditions,
});
const remove = (id: number, preconditions = {}): Write => ({ kind: 'remove', id, preconditions });

const milk = (id: number) => represent({ id, ...MILK });
const FAILING = { ifMatch: ['"another"'] };

/** A database in memory, and what commits batches to it. */
function prepared() {
  const database = new DatabaseSync(':memory:');
  migrate(database);
  const commit = prepareBatches(
    database,
    () => {},
    () => undefined,
  );
  return {
    database,
    commit,
    /** The outcomes of a batch that is committed. */
    outcomes(...writes: readonly Write[]) {
      const result = commit(writes);
      assert.ok('outcomes' in result, JSON.stringify(result));
      assert.equal(database.isTransaction, false);
      return result.outcomes;
    },
    titles: () =>
      database
        .prepare('SELECT title FROM todos ORDER BY id')
        .all()
        .map(({ title }) => title),
    [Symbol.dispose]: () => database.close(),
  };
}

test('each write of a batch has its own outcome, in the order of the writes', () => {
  using batches = prepared();
  assert.deepEqual(
    batches.outcomes(
      add(),
      replace(1),
      replace(2),
      replace(1, NO_CATEGORY),
      remove(1),
      remove(1),
      add(NO_CATEGORY),
    ),
    [milk(1), 'replaced', 'todo-missing', 'category-missing', 'removed', 'todo-missing', 'category-missing'],
  );
  assert.deepEqual(batches.titles(), []);
});

test('a write that is refused leaves the others of its batch alone', () => {
  using batches = prepared();
  batches.outcomes(add(), add());
  assert.deepEqual(
    batches.outcomes(replace(1), replace(2, TEA, FAILING), remove(2, FAILING), add(NO_CATEGORY), add(TEA)),
    [
      'replaced',
      'precondition-failed',
      'precondition-failed',
      'category-missing',
      represent({ id: 3, ...TEA }),
    ],
  );
  assert.deepEqual(batches.titles(), ['tea', 'milk', 'tea']);
});

test('a write that fails half-way leaves nothing, and the others of its batch alone', () => {
  using batches = prepared();
  batches.database.exec(
    "CREATE TRIGGER refuse BEFORE INSERT ON idempotency_keys BEGIN SELECT RAISE(ABORT, 'refused'); END",
  );
  const failure = { failure: 'broken', state: 'refused', message: 'refused' };
  assert.deepEqual(batches.outcomes(add(), add(TEA, 'key'), add()), [milk(1), failure, milk(2)]);
  assert.deepEqual(batches.titles(), ['milk', 'milk']);
});

test('a write that misses a part of the schema is a failure of the schema, and the others are made [D11]', () => {
  using batches = prepared();
  batches.database.exec('DROP TABLE idempotency_keys');
  const failure = { failure: 'broken', state: 'schema', message: 'no such table: idempotency_keys' };
  assert.deepEqual(batches.outcomes(add(MILK, 'key'), add()), [failure, milk(1)]);
});

test('a create with a key is made once, and the key is for its body [I1; I2]', () => {
  using batches = prepared();
  assert.deepEqual(
    batches.outcomes(add(MILK, 'key'), add(MILK, 'key'), add(TEA, 'key', 'tea'), add(MILK, 'other'), add()),
    [milk(1), { repeated: milk(1) }, 'key-reused', milk(2), milk(3)],
  );
  assert.equal(batches.titles().length, 3);
});

test('a key is over after 24 hours, and each create sweeps up to four of those [I2]', () => {
  using batches = prepared();
  const { database } = batches;
  const keys = () =>
    database
      .prepare('SELECT key FROM idempotency_keys ORDER BY at, key')
      .all()
      .map(({ key }) => key);
  batches.outcomes(...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => add(MILK, key)));
  database.exec("UPDATE idempotency_keys SET at = at - 86401 WHERE key < 'g'");
  database.exec("UPDATE idempotency_keys SET at = at - 86300 WHERE key = 'g'");
  assert.deepEqual(batches.outcomes(add(TEA, 'f', 'tea')), [represent({ id: 8, ...TEA })]);
  assert.deepEqual(keys(), ['e', 'g', 'f']);
  assert.deepEqual(batches.outcomes(add(MILK, 'g')), [{ repeated: milk(7) }]);
});

for (const [what, preconditions, outcome] of [
  ['If-Match with the tag of the todo', { ifMatch: [milk(1).etag] }, 'replaced'],
  ['If-Match with another tag', FAILING, 'precondition-failed'],
  ['If-None-Match with the tag of the todo', { ifNoneMatch: [milk(1).etag] }, 'precondition-failed'],
  ['If-None-Match with another tag', { ifNoneMatch: ['"another"'] }, 'replaced'],
  ['no precondition', {}, 'replaced'],
] as const) {
  test(`with ${what} a todo is ${outcome}, and a removal alike`, () => {
    using batches = prepared();
    batches.outcomes(add());
    assert.deepEqual(batches.outcomes(replace(1, TEA, preconditions)), [outcome]);
    assert.deepEqual(batches.titles(), [outcome === 'replaced' ? 'tea' : 'milk']);
    batches.outcomes(replace(1, MILK));
    assert.deepEqual(batches.outcomes(remove(1, preconditions)), [
      outcome === 'replaced' ? 'removed' : outcome,
    ]);
    assert.deepEqual(batches.titles().length, outcome === 'replaced' ? 0 : 1);
  });
}

test('a precondition matters only where the write would have succeeded [Order 5]', () => {
  using batches = prepared();
  batches.outcomes(add());
  assert.deepEqual(
    batches.outcomes(replace(2, TEA, FAILING), remove(2, FAILING), replace(1, NO_CATEGORY, FAILING)),
    ['todo-missing', 'todo-missing', 'category-missing'],
  );
});

test('a disk that is full refuses a batch whole, and takes the next that fits', () => {
  using batches = prepared();
  const { database } = batches;
  const pages = database.prepare('PRAGMA page_count').get()?.page_count;
  database.exec(`PRAGMA max_page_count = ${pages}`);
  const many = Array.from({ length: 1_000 }, () => add());
  assert.deepEqual(batches.commit(many), { failure: 'unavailable', message: 'database or disk is full' });
  assert.equal(database.isTransaction, false);
  assert.deepEqual(batches.titles(), []);
  assert.deepEqual(batches.outcomes(add()), [milk(1)]);
});

test('while another program writes, a batch is refused', async () => {
  const path = await newDatabase();
  using database = new DatabaseSync(path, { timeout: 0 });
  using other = new DatabaseSync(path);
  const commit = prepareBatches(
    database,
    () => assert.fail('nothing is decided'),
    () => undefined,
  );
  other.exec('BEGIN IMMEDIATE');
  assert.deepEqual(commit([add()]), { failure: 'unavailable', message: 'database is locked' });
});

test('prepareBatches looks for changes of others when no other program can write any more, before it decides', async () => {
  const path = await newDatabase();
  using database = new DatabaseSync(path);
  using other = new DatabaseSync(path, { timeout: 0 });
  const count = () => database.prepare('SELECT count(*) AS todos FROM todos').get()?.todos;
  let todos: unknown;
  const commit = prepareBatches(
    database,
    () => {
      assert.throws(() => other.exec('BEGIN IMMEDIATE'), { message: 'database is locked' });
      todos = count();
    },
    () => undefined,
  );
  commit([add()]);
  assert.deepEqual([todos, count()], [0, 1]);
});

test('a commit that the database refuses has changed nothing, and is tried for each write alone [D11]', () => {
  using batches = prepared();
  const commit = prepareBatches(
    batches.database,
    () => batches.database.exec('PRAGMA defer_foreign_keys = ON'),
    () => undefined,
  );
  const failure = { failure: 'broken', state: 'refused', message: 'FOREIGN KEY constraint failed' };
  assert.deepEqual(commit([add(NO_CATEGORY)]), failure);
  assert.deepEqual([batches.database.isTransaction, batches.titles()], [false, []]);
  assert.deepEqual(commit([add(), add(NO_CATEGORY)]), { outcomes: [milk(1), failure] });
});

test('a batch that fails before its writes are decided leaves no transaction', () => {
  using batches = prepared();
  const commit = prepareBatches(
    batches.database,
    () => {
      throw new Error('no poll');
    },
    () => undefined,
  );
  assert.deepEqual(commit([add()]), { failure: 'error', message: 'no poll' });
  assert.equal(batches.database.isTransaction, false);
});

test('a read of the disk that fails before the commit has changed nothing, and is no unknown outcome [D9; D11]', () => {
  using batches = prepared();
  const commit = prepareBatches(
    batches.database,
    () => {
      // SQLITE_IOERR_READ
      throw Object.assign(new Error('disk I/O error'), { errcode: 266 });
    },
    () => undefined,
  );
  assert.deepEqual(commit([add()]), { failure: 'broken', state: 'damaged', message: 'disk I/O error' });
});

test('a probe changes nothing, and writes all the same', async () => {
  const path = await newDatabase();
  using database = new DatabaseSync(path);
  makeDurable(database);
  const version = () => database.prepare('PRAGMA user_version').get()?.user_version;
  const logged = () => statSync(`${path}-wal`).size;
  const [before, from] = [version(), logged()];
  const commit = prepareBatches(
    database,
    () => {},
    () => undefined,
  );
  assert.deepEqual(commit([{ kind: 'probe' }]), { outcomes: ['written'] });
  assert.equal(version(), before);
  assert.ok(logged() > from);
});

test('prepareBatches looks for the file before a batch, and when it is committed before it is acknowledged', async () => {
  const path = await newDatabase();
  using database = new DatabaseSync(path);
  using other = new DatabaseSync(path);
  const seen: unknown[] = [];
  const commit = prepareBatches(
    database,
    () => {},
    () => {
      seen.push(other.prepare('SELECT count(*) AS todos FROM todos').get()?.todos);
      return seen.length === 1 ? undefined : GONE;
    },
  );
  assert.deepEqual(commit([add()]), { ...GONE, failure: 'unknown' });
  assert.deepEqual(seen, [0, 1]);
  assert.deepEqual(commit([add()]), GONE);
  assert.deepEqual(seen, [0, 1, 1]);
});

test('a commit whose sync fails is of unknown outcome [D9]', { skip }, async () => {
  const path = await newDatabase();
  const broken = newPath('broken');
  const module = (name: string) => new URL(`./${name}.ts`, import.meta.url).href;
  const said = runOnDisk(
    { ...library, DISK_FOLDER: dirname(path), DISK_BROKEN: broken },
    `import { writeFileSync } from 'node:fs';
    import { DatabaseSync } from 'node:sqlite';
    import { makeDurable } from '${module('durability')}';
    import { prepareBatches } from '${module('writer-thread')}';
    const database = new DatabaseSync('${path}');
    makeDurable(database);
    const commit = prepareBatches(database, () => {}, () => undefined);
    writeFileSync('${broken}', '');
    console.log(JSON.stringify([commit([${JSON.stringify(add())}]), database.isTransaction]));`,
  );
  assert.deepEqual(JSON.parse(said), [{ failure: 'unknown', message: 'disk I/O error' }, false]);
});
