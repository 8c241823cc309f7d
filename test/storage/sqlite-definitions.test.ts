import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKey } from '../../src/shared-list/create-keys.ts';
import { openSqliteMaintenance } from '../../src/storage/sqlite/maintenance.ts';
import { MIGRATIONS } from '../../src/storage/sqlite/schema.ts';
import { execute, newDatabase, newPath } from './new-files.ts';
import { serve } from './served.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { listed, newTodo, replacement } from './todos.ts';

const MOVE = 'move the list into a new database by "todo-service export" and "todo-service import"';
const ofOthers = (what: string, remedy: string) =>
  `the ${what} is of others, and may change or refuse what is written: ${remedy}`;
const must = (table: string, part: string) =>
  `its table ${table} is changed, and must have "${part}": ${MOVE}`;
const OTHER = ofOthers('trigger other', 'DROP trigger other');
const KEY_OF_OTHERS = ofOthers(
  'foreign key of table owners to todos',
  'make it ON DELETE CASCADE, or remove it',
);
const TITLE = 'title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 100)';

async function faultsOf(path: string): Promise<readonly string[]> {
  await using maintenance = openSqliteMaintenance(path);
  return (await maintenance.inspect()).faults;
}

/** A trigger for what a row of this title, or its removal, does. */
const trigger = (when: string, action: string, row = 'NEW') =>
  `CREATE TRIGGER other ${when} WHEN ${row}.title = 'refused' BEGIN ${action}; END`;

const isBelow353 = Number(process.versions.sqlite?.split('.')[1]) < 53;

/** Parts that refuse a todo with the title "refused", and no other one. */
for (const [what, sql, fault] of [
  [
    'a constraint',
    "ALTER TABLE todos ADD CONSTRAINT other CHECK (title <> 'refused')",
    ofOthers(
      `"CONSTRAINT other CHECK (title <> 'refused')" of table todos`,
      'ALTER TABLE todos DROP CONSTRAINT other',
    ),
  ],
  ['a trigger that raises', trigger('BEFORE INSERT ON todos', "SELECT RAISE(ABORT, 'no')"), OTHER],
  [
    'a trigger that ends the transaction',
    trigger('AFTER INSERT ON todos', "SELECT RAISE(ROLLBACK, 'no')"),
    OTHER,
  ],
  [
    'a trigger that computes what cannot be',
    trigger('AFTER INSERT ON todos', 'SELECT abs(-9223372036854775808)'),
    OTHER,
  ],
  [
    'a trigger that writes what its table does not take',
    `CREATE TABLE others (id INTEGER PRIMARY KEY); ${trigger('AFTER INSERT ON todos', "INSERT INTO others VALUES ('x')")}`,
    OTHER,
  ],
  [
    'a trigger that makes a value too long',
    `CREATE TABLE others (x); ${trigger('AFTER INSERT ON todos', 'INSERT INTO others VALUES (zeroblob(2000000000))')}`,
    OTHER,
  ],
  [
    'a column that cannot be computed',
    "ALTER TABLE todos ADD COLUMN g TEXT AS (CASE title WHEN 'refused' THEN json('{') END)",
    ofOthers(
      `"g TEXT AS (CASE title WHEN 'refused' THEN json('{') END)" of table todos`,
      'ALTER TABLE todos DROP COLUMN g',
    ),
  ],
  ['a trigger that leaves out a row', trigger('BEFORE INSERT ON todos', 'SELECT RAISE(IGNORE)'), OTHER],
  [
    'a unique index',
    "INSERT INTO todos (title, category_id) VALUES ('refused', 1); CREATE UNIQUE INDEX other ON todos (title) WHERE title = 'refused'",
    ofOthers('index other', 'DROP index other'),
  ],
  [
    'a key that is checked at the commit',
    `CREATE TABLE owners (id INTEGER PRIMARY KEY, todo INTEGER REFERENCES todos (id) DEFERRABLE INITIALLY DEFERRED);
      ${trigger('AFTER INSERT ON todos', 'INSERT INTO owners (todo) VALUES (-1)')}`,
    KEY_OF_OTHERS,
  ],
  [
    'a column of others with a check',
    `ALTER TABLE todos ADD COLUMN note TEXT DEFAULT NULL CHECK (title <> 'refused')`,
    ofOthers(
      `"note TEXT DEFAULT NULL CHECK (title <> 'refused')" of table todos`,
      'ALTER TABLE todos DROP COLUMN note',
    ),
  ],
] as const) {
  const skip = sql.includes(' ADD CONSTRAINT ') && isBelow353 && 'this SQLite has no ADD CONSTRAINT';
  test(`SQLite: ${what} refuses one write of a batch alone, and check names it [D11]`, { skip }, async () => {
    const path = await newDatabase();
    execute(path, sql);
    const told: unknown[] = [];
    await using store = await openSqliteStore(path, { logEvent: ({ event }) => told.push(event) });
    const before = (await listed(store)).length;
    const adding = ['one', 'refused', 'two'].map((title) => store.add(newTodo(title, 1)));
    const settled = await Promise.allSettled(adding);
    assert.deepEqual(
      settled.map((each) => (each.status === 'rejected' ? each.reason.name : 'made')),
      ['made', 'StoreBroken', 'made'],
    );
    await assert.rejects(store.add(newTodo('refused', 1)), { name: 'StoreBroken' });
    assert.equal((await listed(store)).length, before + 2);
    assert.deepEqual(told, ['schema-refuses']);
    await store.check();
    assert.equal((await faultsOf(path)).includes(fault), true, String(await faultsOf(path)));
  });
}

for (const [what, when, row] of [
  ['replaced', 'BEFORE UPDATE ON todos', 'OLD'],
  ['removed', 'BEFORE DELETE ON todos', 'OLD'],
] as const) {
  test(`SQLite: a todo that a trigger keeps from being ${what} is not missing [D11]`, async () => {
    const path = await newDatabase();
    execute(
      path,
      `INSERT INTO todos (title, category_id) VALUES ('refused', 1); ${trigger(when, 'SELECT RAISE(IGNORE)', row)}`,
    );
    await using store = await openSqliteStore(path);
    const change = (id: number) =>
      what === 'removed' ? store.remove(id) : store.replace(id, replacement('a', true, 1));
    await assert.rejects(change(1), {
      name: 'StoreBroken',
      message: 'a trigger that is not of this program leaves out a row',
    });
    assert.equal(await change(2), 'todo-missing');
  });
}

test('SQLite: a create whose key a trigger leaves out is not made [D11; I1]', async () => {
  const path = await newDatabase();
  execute(path, 'CREATE TRIGGER other BEFORE INSERT ON idempotency_keys BEGIN SELECT RAISE(IGNORE); END');
  await using store = await openSqliteStore(path);
  const once = { ...createKey(['issuer', 'subject'], 'k', newTodo('a', 1)), patienceMs: 0 };
  await assert.rejects(store.add(newTodo('a', 1), once), { name: 'StoreBroken' });
  assert.deepEqual(await listed(store), []);
});

test('SQLite: a foreign key of another table is no missing category [D11]', async () => {
  const path = await newDatabase();
  execute(
    path,
    `CREATE TABLE owners (todo INTEGER REFERENCES todos (id)); INSERT INTO todos (title, category_id) VALUES ('a', 1);
      INSERT INTO owners VALUES (1)`,
  );
  await using store = await openSqliteStore(path);
  await assert.rejects(store.remove(1), { name: 'StoreBroken', message: 'FOREIGN KEY constraint failed' });
  assert.equal(await store.add(newTodo('a', 9)), 'category-missing');
  assert.deepEqual(await faultsOf(path), [KEY_OF_OTHERS]);
});

test('SQLite: a refused write is a 503 without Retry-After, and the service stays ready [D11]', async () => {
  const path = await newDatabase();
  execute(path, trigger('BEFORE INSERT ON todos', "SELECT RAISE(ABORT, 'no')"));
  await using service = await serve(`sqlite:${path}`, { env: { TODO_ADMIN_PORT: '0' } });
  const reply = await service.ask('POST', '/todos', { title: 'refused', categoryId: 1 });
  assert.deepEqual([reply.status, reply.headers.get('retry-after')], [503, null]);
  assert.equal((await service.ready()).status, 200);
  assert.equal(service.log().filter(({ event }) => event === 'schema-refuses').length, 1);
});

test('an index that computes, and may fail at that, is named, and is no fault [D11]', async () => {
  const path = await newDatabase();
  execute(
    path,
    `CREATE INDEX plain ON todos (title); CREATE INDEX Texts ON todos (json(title));
    CREATE INDEX few ON todos (title) WHERE json(title) IS NULL`,
  );
  await using operator = openSqliteMaintenance(path);
  const { facts, faults } = await operator.inspect();
  assert.equal(facts['computed by others'], 'index few, index texts');
  assert.deepEqual(faults, []);
});

const made = (change: (sql: string) => string) => {
  const path = newPath();
  execute(
    path,
    `${change(MIGRATIONS.from(0).join(''))} INSERT INTO todo_schema VALUES (${MIGRATIONS.oldestProgram});
      INSERT INTO categories (name) VALUES ('Work'); PRAGMA application_id = 0x746f646f;
      PRAGMA user_version = ${MIGRATIONS.version}`,
  );
  return path;
};

for (const [what, change, wanted] of [
  [
    'without NOT NULL',
    (sql: string) => sql.replace('title TEXT NOT NULL', 'title TEXT'),
    [must('todos', TITLE)],
  ],
  [
    'without a check',
    (sql: string) => sql.replace(' CHECK (length(title) BETWEEN 1 AND 100)', ''),
    [must('todos', TITLE)],
  ],
  ['without an index', (sql: string) => `${sql} DROP INDEX idempotency_keys_at;`, undefined],
  [
    'without a foreign key',
    (sql: string) => sql.replace(' REFERENCES categories (id)', ''),
    [must('todos', 'category_id INTEGER NOT NULL REFERENCES categories (id)')],
  ],
  ['that is not strict', (sql: string) => sql.replace(') STRICT;', ');'), [must('categories', 'STRICT')]],
  [
    'with other spaces, comments and quotes',
    (sql: string) => sql.replaceAll('(id)', '( /* ) */ "id" )').replaceAll('todos', '"todos"'),
    [],
  ],
  [
    'that was renamed, and got its name again',
    (sql: string) => `${sql} ALTER TABLE todos RENAME TO t; ALTER TABLE t RENAME TO todos;`,
    [],
  ],
  [
    'in the letters and spaces of another program',
    (sql: string) => sql.replace(TITLE, 'title\ttext not null check(length(title)between 1 and 100)'),
    [],
  ],
  [
    'that lost NOT NULL, and got it again',
    // As SQLite 3.54 writes it.
    (sql: string) => sql.replace(TITLE, `${TITLE.replace(' NOT NULL', '')} NOT NULL`),
    [],
  ],
  [
    'with columns of others whose names and values are words of SQL',
    (sql: string) =>
      `${sql} ALTER TABLE todos ADD COLUMN "check" TEXT DEFAULT 'UNIQUE, AS'; ALTER TABLE todos ADD COLUMN [as] TEXT;`,
    [],
  ],
  [
    'with a trigger that has the table in capitals, and a name with a space',
    (sql: string) =>
      `${sql} CREATE TRIGGER "No more" BEFORE INSERT ON TODOS BEGIN SELECT RAISE(IGNORE); END;`,
    [ofOthers('trigger "no more"', 'DROP trigger "no more"')],
  ],
  [
    'with a constraint that has a name with a space',
    (sql: string) => sql.replace('(id)\n', '(id), CONSTRAINT "no more" CHECK (id < 9)\n'),
    [
      ofOthers(
        '"CONSTRAINT "no more" CHECK (id < 9)" of table todos',
        'ALTER TABLE todos DROP CONSTRAINT "no more"',
      ),
    ],
  ],
  ...(['INTEGER NOT NULL', 'INTEGER DEFAULT -1'] as const).map(
    (type) =>
      [
        `with a key of another table that cannot let go of a todo, of ${type}`,
        (sql: string) =>
          `${sql} CREATE TABLE owners (todo ${type} REFERENCES TODOS ON DELETE SET ${type.includes('NULL') ? 'NULL' : 'DEFAULT'});`,
        [KEY_OF_OTHERS],
      ] as const,
  ),
  [
    'with keys of other tables that let go of a todo',
    (sql: string) =>
      `${sql} CREATE TABLE a (todo INTEGER REFERENCES todos ON DELETE SET NULL);
        CREATE TABLE b (todo INTEGER REFERENCES todos ON DELETE SET DEFAULT);
        CREATE TABLE c (todo INTEGER NOT NULL REFERENCES todos ON DELETE CASCADE);`,
    [],
  ],
  ['with a column that may be empty', (sql: string) => `${sql} ALTER TABLE todos ADD COLUMN note TEXT;`, []],
  [
    'with tables, views and indexes of others',
    (sql: string) =>
      `${sql} CREATE TABLE o (a CHECK (a > 1)); CREATE VIEW v AS SELECT 1; CREATE INDEX i ON todos (title); ANALYZE;`,
    [],
  ],
] as const) {
  test(`check of a schema ${what} names ${wanted?.length === 0 ? 'nothing' : 'that'} [D11]`, async () => {
    const faults = await faultsOf(made(change));
    if (wanted === undefined)
      assert.match(String(faults), /^its index idempotency_keys_at is changed, and must have /);
    else assert.deepEqual(faults, wanted);
  });
}
