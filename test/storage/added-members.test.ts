import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { registerHooks } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

/** Rows of MEMBERS that this program does not have: a text and a boolean that may be missing, and a number with a default. */
const ADDED = `
  { name: 'addedText', column: 'added_text', kind: 'text', maxLength: 2_000, inCreate: true,
    is: (value) => value === undefined || typeof value === 'string', faults: () => ['must be a string'] },
  { name: 'addedFlag', column: 'added_flag', kind: 'boolean', inCreate: true,
    is: (value) => value === undefined || typeof value === 'boolean', faults: () => ['must be true or false'] },
  { name: 'addedNumber', column: 'added_number', kind: 'integer', inCreate: true, missing: 3,
    is: (value) => typeof value === 'number', faults: () => ['must be a number'] },
] as const satisfies`;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith('/src/shared-list/members.ts')) return loaded;
    return { ...loaded, source: String(loaded.source).replace('] as const satisfies', ADDED) };
  },
});
const { parseCreateTodo, parseReplaceTodo } = await import('../../src/shared-list/requests.ts');
const { createKey } = await import('../../src/shared-list/create-keys.ts');
const { MEMBERS, represent } = await import('../../src/shared-list/members.ts');
const { ADD, columnValues, prepareFind } = await import('../../src/storage/sqlite/row.ts');
const { readExport } = await import('../../src/storage/transfer/read-export.ts');
const { exportParts } = await import('../../src/storage/transfer/write-export.ts');
const { openExport } = await import('../../src/storage/postgres/transfer.ts');
const { PostgresServer } = await import('./postgres-server.ts');

const MILK = { title: 'Buy milk', categoryId: 1 };
const ALL = { ...MILK, addedText: 'Two litres', addedFlag: false, addedNumber: 1 };

/** The value of a body of this create. */
function created(body: object) {
  const parsed = parseCreateTodo(body);
  assert.ok('value' in parsed);
  return parsed.value;
}

/** The JSON of a todo that SQLite has kept. */
function kept(body: object) {
  using database = new DatabaseSync(':memory:');
  const columns = MEMBERS.map(({ column, kind }) => `${column} ${kind === 'text' ? 'TEXT' : 'INTEGER'}`);
  database.exec(`CREATE TABLE todos (id INTEGER PRIMARY KEY, ${columns}) STRICT`);
  database.prepare(ADD).run(...columnValues(created(body)));
  const todo = prepareFind(database)(1);
  assert.ok(todo);
  return represent(todo).json;
}

/** The todos of an export with this line. */
async function read(line: string) {
  const head = '{"format":"todo-service-export","version":1,"categories":1,"todos":1}';
  const lines = [head, '{"id":1,"name":"Work"}', line].map((text) => `${text}\n`).join('');
  const sha256 = createHash('sha256').update(lines).digest('hex');
  const todos: object[] = [];
  await readExport(
    (async function* () {
      yield Buffer.from(`${lines}{"sha256":"${sha256}"}\n`);
    })(),
    async (rows) => void todos.push(...rows.todos),
  );
  return todos;
}

test('what a create leaves out has its default, or is missing', () => {
  assert.deepEqual(created(MILK), { ...MILK, done: false, addedNumber: 3 });
  assert.deepEqual(created(ALL), { ...ALL, done: false });
  assert.deepEqual(parseReplaceTodo({ ...ALL, done: true }), { value: { ...ALL, done: true } });
});

test('a member that may be missing is refused for a wrong value, as any other', () => {
  const errors = {
    addedText: ['addedText must be a string.'],
    addedFlag: ['addedFlag must be true or false.'],
  };
  assert.deepEqual(parseCreateTodo({ ...MILK, addedText: null, addedFlag: 0 }), { errors });
});

test('a missing member is no part of the JSON, so that older tags stay', () => {
  assert.equal(kept(MILK), '{"id":1,"title":"Buy milk","done":false,"categoryId":1,"addedNumber":3}');
  const added = '"addedText":"Two litres","addedFlag":false,"addedNumber":1';
  assert.equal(kept(ALL), `{"id":1,"title":"Buy milk","done":false,"categoryId":1,${added}}`);
});

test('a create without them repeats one of before they were added, and no other one [I2; I4]', () => {
  const bodyOf = (body: object) => createKey(['https://issuer.example', 'ada'], 'abc', created(body)).body;
  // As in todo.test.ts.
  assert.equal(bodyOf(MILK), 'eF9SfEAUWdxCl6VwZ_8hXM0lhH9ZdNt0TwkJm2wfVBU');
  const bodies = [
    {},
    { addedText: 'a' },
    { addedText: 'b' },
    { addedFlag: true },
    { addedFlag: false },
    { addedNumber: 1 },
  ];
  assert.equal(new Set(bodies.map((more) => bodyOf({ ...MILK, ...more }))).size, bodies.length);
});

test('a line of an export may be without a missing member, and has any text that is allowed [E4]', async () => {
  const todo = { id: 1, title: 'Buy milk', done: false, categoryId: 1, addedNumber: 3 };
  assert.deepEqual(await read(JSON.stringify(todo)), [todo]);
  const escaped = '\\ud83d\\ude00'.repeat(2_000);
  const addedText = '😀'.repeat(2_000);
  assert.deepEqual(await read(JSON.stringify({ ...todo, addedText }).replace(addedText, escaped)), [
    { ...todo, addedText },
  ]);
});

test('a member that may be missing is no part of the export of a todo of PostgreSQL that lacks it [E1]', async () => {
  await using server = await PostgresServer.start();
  const url = await server.makeDatabase();
  // In a process of its own, which has no other members.
  execFileSync(process.execPath, ['src/start.js', 'migrate', '--database', url], { stdio: 'ignore' });
  await server.execute(
    url,
    `ALTER TABLE todos ADD COLUMN added_text text, ADD COLUMN added_flag boolean, ADD COLUMN added_number integer DEFAULT 3;
     INSERT INTO todos (title, category_id) VALUES ('Buy milk', 1)`,
  );
  await using source = await openExport(url);
  const parts = await Array.fromAsync(exportParts(source));
  const text = parts.map((part) => part.text).join('');
  assert.ok(text.includes(`\n${kept(MILK)}\n`), text);
});
