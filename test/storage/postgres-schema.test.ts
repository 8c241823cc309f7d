import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Event } from '../../src/events.ts';
import type { Preconditions } from '../../src/shared-list/entity-tags.ts';
import type { TodoStore } from '../../src/shared-list/store.ts';
import { openPostgresMaintenance } from '../../src/storage/postgres/maintenance.ts';
import { migratePostgres, openPatient } from './postgres-pool.ts';
import { makeServing } from './postgres-rights.ts';
import { PostgresServer } from './postgres-server.ts';
import { addedTo, found, listed, listenToSchema, newTodo, replacement, wrong } from './todos.ts';

const server = await PostgresServer.startForAll('fsync=on');

interface Served extends AsyncDisposable {
  /** The owner's. */
  readonly url: string;
  /** Of the role that serves. */
  readonly role: string;
  readonly store: TodoStore;
  /** What was told of the schema. */
  readonly told: readonly (string | undefined)[];
}

/** A store of a role that has the rights which serving needs, and no more, with the todo 1. */
async function serve(): Promise<Served> {
  const { url, role, own } = await makeServing(server);
  const { told, logEvent } = listenToSchema();
  const store = await openPatient(own, { migrate: false, logEvent });
  await addedTo(store, 'a');
  return { url, role, store, told, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

const isRefusedAs = (message: RegExp | string) => ({ name: 'StoreBroken', message });

async function mended({ told }: Served): Promise<void> {
  while (told.at(-1) !== undefined) await sleep(20);
}

type Use = (store: TodoStore) => Promise<unknown>;

const create: Use = (store) => store.add(newTodo('b', 1));
const createOnce: Use = (store) => store.add(newTodo('b', 1), { key: 'k', body: 'b', patienceMs: 1_000 });
const replace: Use = (store) => store.replace(1, replacement('b', true, 2));
const remove: Use = (store) => store.remove(1);
const find: Use = async (store) => store.find(1);
/** The same, of the todo as it is now. */
const asItIs = async (store: TodoStore): Promise<Preconditions> => ({
  ifMatch: [(await store.find(1))?.etag ?? ''],
});
const replaceAsItIs: Use = async (store) => store.replace(1, replacement('b', true, 2), await asItIs(store));
const removeAsItIs: Use = async (store) => store.remove(1, await asItIs(store));
const list: Use = async (store) => store.list();

/** Nothing fails: it is found by a look. */
const NO_ERROR = 'no error';

const TRIGGERS = ['todo_changed', 'todo_removed', 'todo_renumbered'];
const alwaysOn = (name: string) =>
  `its trigger "${name}" must always be on: ALTER TABLE todos ENABLE ALWAYS TRIGGER ${name}`;
const gone = (name: string) => `its trigger "${name}" of "todos" is missing`;

const faults: readonly {
  readonly name: string;
  readonly code: string;
  readonly spoil: (role: string) => string;
  readonly mend: (role: string) => string;
  readonly reason: RegExp;
  readonly fails: readonly Use[];
  readonly works: readonly Use[];
}[] = [
  {
    name: 'a table that was renamed',
    code: '42P01',
    spoil: () => 'ALTER TABLE todos RENAME TO todos_old',
    mend: () => 'ALTER TABLE todos_old RENAME TO todos',
    reason: /^its table "todos" is missing$/,
    fails: [find, list, create, createOnce, replace, remove],
    works: [],
  },
  {
    name: 'a table of the keys that was dropped',
    code: '42P01',
    spoil: () => 'CREATE TABLE kept AS TABLE idempotency_keys; DROP TABLE idempotency_keys',
    mend: (role) =>
      `CREATE TABLE idempotency_keys (key text COLLATE "C" PRIMARY KEY, body text NOT NULL, todo_id integer NOT NULL,
        at timestamptz NOT NULL DEFAULT now()); GRANT ALL ON idempotency_keys TO ${role}`,
    reason: /^its table "idempotency_keys" is missing$/,
    fails: [createOnce],
    works: [find, list, create, replace, remove],
  },
  {
    name: 'a column that was renamed',
    code: '42703',
    spoil: () => 'ALTER TABLE todos RENAME title TO name',
    mend: () => 'ALTER TABLE todos RENAME name TO title',
    reason: /^the column "title" of "todos" is missing$/,
    fails: [find, list, create, createOnce, replace],
    works: [remove],
  },
  {
    name: 'a right that was revoked',
    code: '42501',
    spoil: (role) => `REVOKE INSERT, DELETE ON todos FROM ${role}`,
    mend: (role) => `GRANT INSERT, DELETE ON todos TO ${role}`,
    reason: /^its role lacks rights: GRANT INSERT, DELETE ON todos TO role_\d+$/,
    fails: [create, createOnce, remove],
    works: [find, list, replace],
  },
  {
    name: 'a right of the owner of a trigger that was revoked',
    code: '42501',
    spoil: () => 'CREATE ROLE keeper; ALTER FUNCTION todo_removed() OWNER TO keeper',
    mend: () => 'ALTER FUNCTION todo_removed() OWNER TO postgres; DROP ROLE keeper',
    reason: /^its role lacks rights: GRANT INSERT ON todo_tombstones TO keeper$/,
    fails: [remove],
    works: [find, list, create, createOnce, replace],
  },
  {
    name: 'a function of a trigger that acts for its caller',
    code: '42501',
    spoil: () => 'ALTER FUNCTION todo_removed() SECURITY INVOKER',
    mend: () => 'ALTER FUNCTION todo_removed() SECURITY DEFINER',
    reason: /^its role lacks rights: GRANT INSERT ON todo_tombstones TO role_\d+$/,
    fails: [remove],
    works: [find, list, create, createOnce, replace],
  },
  {
    name: 'a function that was dropped',
    code: '42883',
    spoil: () => 'ALTER FUNCTION todo_unseen(pg_snapshot, integer) RENAME TO gone',
    mend: () => 'ALTER FUNCTION gone(pg_snapshot, integer) RENAME TO todo_unseen',
    reason: /^its function todo_unseen\(pg_snapshot,integer\) is missing$/,
    fails: [list],
    works: [find, create, createOnce, replace, remove],
  },
  {
    name: 'a trigger that is off',
    code: '23502',
    spoil: () => 'ALTER TABLE todos DISABLE TRIGGER USER',
    mend: () => TRIGGERS.map((name) => `ALTER TABLE todos ENABLE ALWAYS TRIGGER ${name}`).join(';'),
    reason: new RegExp(`^${TRIGGERS.map(alwaysOn).join('; ')}$`),
    fails: [create, createOnce],
    works: [find, list, replace, remove],
  },
  {
    name: 'a function of a trigger that was dropped with it',
    code: '23502',
    spoil: () => 'ALTER FUNCTION todo_changed() RENAME TO gone; DROP TRIGGER todo_changed ON todos',
    mend: () =>
      `ALTER FUNCTION gone() RENAME TO todo_changed;
      CREATE TRIGGER todo_changed BEFORE INSERT OR UPDATE ON todos FOR EACH ROW EXECUTE FUNCTION todo_changed();
      ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_changed`,
    reason: new RegExp(`^its function todo_changed\\(\\) is missing; ${gone('todo_changed')}$`),
    fails: [create, createOnce],
    works: [find, list, replace, remove],
  },
  {
    name: 'a column of another type that takes no text',
    code: '42804',
    spoil: () =>
      'ALTER TABLE todos DROP CONSTRAINT todos_title_check, ALTER COLUMN title TYPE integer USING 1',
    mend: () => 'ALTER TABLE todos ALTER COLUMN title TYPE text',
    reason: /^the column "title" of "todos" must be text, received integer$/,
    fails: [create, createOnce, replace, remove, find, list],
    works: [],
  },
  {
    name: 'a column of another type that takes no boolean',
    code: '22P02',
    spoil: () => 'ALTER TABLE todos ALTER COLUMN done DROP DEFAULT, ALTER COLUMN done TYPE integer USING 0',
    mend: () => 'ALTER TABLE todos ALTER COLUMN done TYPE boolean USING false',
    reason: /^the column "done" of "todos" must be boolean, received integer$/,
    fails: [replace, remove, find, list, create, createOnce],
    works: [],
  },
  {
    name: 'a column of another type that takes everything',
    code: NO_ERROR,
    spoil: () => 'ALTER TABLE todos ALTER COLUMN done DROP DEFAULT, ALTER COLUMN done TYPE text',
    mend: () => 'ALTER TABLE todos ALTER COLUMN done TYPE boolean USING done::boolean',
    reason: /^the column "done" of "todos" must be boolean, received text$/,
    fails: [find, list, create, createOnce, replace, remove],
    works: [],
  },
  {
    name: 'a view of some todos in the place of their table',
    code: NO_ERROR,
    spoil: (role) =>
      `ALTER TABLE todos RENAME TO base; CREATE VIEW todos AS SELECT * FROM base WHERE done; GRANT ALL ON todos TO ${role}`,
    mend: () => 'DROP VIEW todos; ALTER TABLE base RENAME TO todos',
    reason: /^its "todos" must be a table$/,
    fails: [find, list, create, createOnce, replace, remove],
    works: [],
  },
  {
    name: 'the right to use the schema that was revoked',
    code: '42P01',
    spoil: () => 'REVOKE USAGE ON SCHEMA public FROM PUBLIC',
    mend: () => 'GRANT USAGE ON SCHEMA public TO PUBLIC',
    reason: /^its table "todos" is missing; its table "categories" is missing; /,
    fails: [find, list, create, createOnce, replace, remove],
    works: [],
  },
];

/** A database with the schema, and rows that SQL made. */
async function filled(sql: string): Promise<string> {
  const url = await server.makeMigrated();
  await server.execute(url, sql);
  return url;
}

/** What `COPY … FROM` with ids, `pg_restore --data-only` and logical replication leave. */
const COPIED = `INSERT INTO todos (id, title, category_id) OVERRIDING SYSTEM VALUE
  SELECT id, 'copied', 1 FROM generate_series(1, 40) AS id`;

for (const trigger of TRIGGERS) {
  test(`${trigger} that is gone or not always on: no start, not ready, and a FAULT [D11]`, async () => {
    await using served = await serve();
    const { url, store } = served;
    const changes = ['DISABLE', 'ENABLE', 'ENABLE REPLICA'].map((state) => ({
      sql: `ALTER TABLE todos ${state} TRIGGER ${trigger}`,
      fault: alwaysOn(trigger),
    }));
    changes.push({ sql: `DROP TRIGGER ${trigger} ON todos`, fault: gone(trigger) });
    for (const { sql, fault } of changes) {
      await server.execute(url, sql);
      assert.deepEqual(await server.faults(url), [fault], sql);
      for (const migrate of [true, false]) {
        const message = new RegExp(`: ${fault}$`);
        await assert.rejects(openPatient(url, { migrate }), { name: 'OperatorError', message }, sql);
      }
    }
    while ((await store.check().catch((error: Error) => error.message)) !== gone(trigger)) await sleep(50);
  });
}

describe('without a restart', { concurrency: true }, () => {
  for (const { name, code, spoil, mend, reason, fails, works } of faults) {
    test(`${name} (${code}) fails what needs it, is told once, and is mended [D11]`, async () => {
      await using served = await serve();
      const { url, role, store, told } = served;
      await listed(store);
      await server.execute(url, spoil(role));
      if (code === NO_ERROR) await wrong(store);
      for (const use of fails) await assert.rejects(use(store), isRefusedAs(reason));
      await assert.rejects(store.check(), isRefusedAs(reason));
      for (const use of works) await use(store);
      assert.equal(told.length, 1);
      assert.match(told[0] ?? '', reason);
      await server.execute(url, mend(role));
      await mended(served);
      assert.equal(told.length, 2);
      await store.check();
      for (const use of [find, list, create, createOnce, replace, remove]) await use(store);
    });
  }

  test('columns of other types: what is read before the look that finds them is what it was (SELECTED) [D11]', async () => {
    await using served = await serve();
    const { url, store } = served;
    const todo = { id: 1, title: 'a', done: false, categoryId: 1 };
    assert.deepEqual(await listed(store), [todo]);
    for (const [column, type] of [
      ['category_id', 'bigint'],
      ['done', 'text'],
    ]) {
      await server.execute(
        url,
        `ALTER TABLE todos ALTER COLUMN done DROP DEFAULT, ALTER COLUMN ${column} TYPE ${type}`,
      );
      assert.deepEqual(await listed(store), [todo]);
      assert.deepEqual(await found(store, 1), todo);
    }
  });

  test('rows that are copied under the service: not ready, a create is refused, and migrate mends it [D12]', async () => {
    const url = await filled('');
    const { told, logEvent } = listenToSchema();
    await using store = await openPatient(url, { logEvent });
    await server.execute(url, COPIED);
    const reason =
      'the sequence of "todos" is behind, and ids up to 40 are taken: run "todo-service migrate"';
    const refused = isRefusedAs(reason);
    await assert.rejects(store.add(newTodo('a', 1)), refused);
    await assert.rejects(store.add(newTodo('a', 1), { key: 'k', body: 'b', patienceMs: 100 }), refused);
    await assert.rejects(store.check(), { name: 'StoreBroken' });
    await migratePostgres(url);
    assert.equal((await addedTo(store, 'a')).id, 41);
    while (told.length < 2) await sleep(20);
    assert.deepEqual(told, [reason, undefined]);
  });

  test('a look that is asked for 5 s after the last one finds a sequence behind the rows, before any create [D12]', async () => {
    const url = await filled('');
    await using store = await openPatient(url);
    await server.execute(url, COPIED);
    const { name, message } = await wrong(store);
    assert.equal(name, 'StoreBroken');
    assert.equal(
      message,
      'the sequence of "todos" is behind, and ids up to 40 are taken: run "todo-service migrate"',
    );
  });
});

/** Parts of others, and what they refuse. */
const refusals: readonly {
  readonly name: string;
  readonly sql: string;
  readonly reason: RegExp;
  readonly fails: readonly Use[];
  readonly works: readonly Use[];
}[] = [
  {
    name: 'a check (23514)',
    sql: "ALTER TABLE todos ADD CONSTRAINT short CHECK (title <> 'b') NOT VALID",
    reason: /^new row for relation "todos" violates check constraint "short"$/,
    fails: [create, createOnce, replace],
    works: [find, list, remove],
  },
  {
    name: 'a unique index (23505)',
    sql: "CREATE UNIQUE INDEX titles ON todos (title); INSERT INTO todos (title, category_id) VALUES ('b', 1)",
    reason: /^duplicate key value violates unique constraint "titles"$/,
    fails: [create, createOnce, replace],
    works: [find, list, remove],
  },
  {
    name: 'an index that cannot compute (22012)',
    sql: "CREATE INDEX shares ON todos ((1 / (ascii(title) - ascii('b'))))",
    reason: /^division by zero$/,
    fails: [create, createOnce, replace],
    works: [find, list, remove],
  },
  {
    name: 'a trigger that gives an id that is taken (23505)',
    sql: `CREATE FUNCTION one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := 1; RETURN NEW; END $$;
      CREATE TRIGGER one BEFORE INSERT ON todos FOR EACH ROW EXECUTE FUNCTION one()`,
    reason: /^duplicate key value violates unique constraint "todos_pkey"$/,
    fails: [create, createOnce],
    works: [find, list, replace, remove],
  },
  {
    name: 'a foreign key of todos (23503)',
    sql: `CREATE TABLE owners (id integer PRIMARY KEY);
      ALTER TABLE todos ADD CONSTRAINT owned FOREIGN KEY (category_id) REFERENCES owners NOT VALID`,
    reason: /^insert or update on table "todos" violates foreign key constraint "owned"$/,
    fails: [create, createOnce, replace],
    works: [find, list, remove],
  },
  {
    name: 'a foreign key to todos (23503)',
    sql: 'CREATE TABLE notes (todo integer CONSTRAINT noted REFERENCES todos); INSERT INTO notes VALUES (1)',
    reason: /^update or delete on table "todos" violates .*foreign key constraint "noted" on table "notes"$/,
    fails: [remove],
    works: [find, list, create, createOnce, replace],
  },
  {
    name: 'a column that must be given (23502)',
    sql: `ALTER TABLE todos ADD of_others integer NOT NULL DEFAULT 1; ALTER TABLE todos ALTER of_others DROP DEFAULT`,
    reason: /^null value in column "of_others" of relation "todos" violates not-null constraint$/,
    fails: [create, createOnce],
    works: [find, list, replace, remove],
  },
  {
    name: 'a time of keys that is gone (23502)',
    sql: 'ALTER TABLE idempotency_keys ALTER at DROP DEFAULT',
    reason: /^null value in column "at" of relation "idempotency_keys" violates not-null constraint$/,
    fails: [createOnce],
    works: [find, list, create, replace, remove],
  },
  {
    name: 'a generated column (428C9)',
    sql: 'ALTER TABLE todos DROP done, ADD done boolean NOT NULL GENERATED ALWAYS AS (false) STORED',
    reason: /^cannot insert a non-DEFAULT value into column "done"$/,
    fails: [create, createOnce],
    works: [find, list, remove],
  },
  {
    name: 'a rule on INSERT (0A000)',
    sql: 'CREATE RULE none AS ON INSERT TO todos DO INSTEAD NOTHING',
    reason: /^cannot perform INSERT RETURNING on relation "todos" /,
    fails: [create, createOnce],
    works: [find, list, replace, remove],
  },
  {
    name: 'a rule on DELETE (0A000)',
    sql: 'CREATE RULE soft AS ON DELETE TO todos DO INSTEAD NOTHING',
    reason: /^cannot perform DELETE RETURNING on relation "todos" /,
    fails: [remove],
    works: [find, list, create, createOnce, replace],
  },
  {
    name: 'a trigger that raises an error (P0001)',
    sql: `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not %', NEW.id; END $$;
      CREATE TRIGGER no BEFORE INSERT ON todos FOR EACH ROW EXECUTE FUNCTION no()`,
    reason: /^not \d+ \(PL\/pgSQL function no\(\) line 1 at RAISE\)$/,
    fails: [create, createOnce],
    works: [find, list, replace, remove],
  },
  {
    name: 'a trigger that leaves out rows',
    sql: `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
      CREATE TRIGGER no BEFORE INSERT ON todos FOR EACH ROW EXECUTE FUNCTION no()`,
    reason: /^a trigger that is not of this program leaves out a row$/,
    fails: [create, createOnce],
    works: [find, list, replace, remove],
  },
  {
    name: 'a trigger that leaves out changes',
    sql: `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
      CREATE TRIGGER no BEFORE UPDATE OR DELETE ON todos FOR EACH ROW EXECUTE FUNCTION no()`,
    reason: /^a trigger that is not of this program leaves out a row$/,
    fails: [replace, replaceAsItIs, remove, removeAsItIs],
    works: [find, list, create, createOnce],
  },
  {
    name: 'a trigger that marks what it keeps, a new row each time,',
    sql: `ALTER TABLE todos ADD COLUMN gone integer NOT NULL DEFAULT 0;
      CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE public.todos SET gone = gone + 1 WHERE id = OLD.id; RETURN NULL; END $$;
      CREATE TRIGGER mark BEFORE DELETE ON todos FOR EACH ROW EXECUTE FUNCTION mark()`,
    reason: /^a trigger that is not of this program leaves out a row$/,
    fails: [remove, removeAsItIs],
    works: [find, list, create, createOnce, replace],
  },
  {
    name: 'a table that must be given an id (23502)',
    sql: `CREATE TABLE audit (id integer NOT NULL, title text);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
        INSERT INTO public.audit (title) VALUES (NEW.title); RETURN NULL; END $$;
      CREATE TRIGGER note AFTER INSERT ON todos FOR EACH ROW EXECUTE FUNCTION note()`,
    reason: /^null value in column "id" of relation "audit" violates not-null constraint/,
    fails: [create, createOnce],
    works: [find, list, replace, remove],
  },
  {
    name: 'a trigger that keeps keys from being deleted',
    sql: `INSERT INTO idempotency_keys VALUES ('k', 'b', 1, now() - interval '25 hours');
      CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
      CREATE TRIGGER no BEFORE DELETE ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION no()`,
    reason: /^a trigger or a rule that is not of this program keeps or changes a key$/,
    fails: [createOnce],
    works: [find, list, create, replace, remove],
  },
  {
    name: 'a rule that keeps keys from being deleted',
    sql: `INSERT INTO idempotency_keys VALUES ('k', 'b', 1, now() - interval '25 hours');
      CREATE RULE soft AS ON DELETE TO idempotency_keys DO INSTEAD NOTHING`,
    reason: /^a trigger or a rule that is not of this program keeps or changes a key$/,
    fails: [createOnce],
    works: [find, list, create, replace, remove],
  },
  {
    name: 'a trigger that changes keys',
    sql: `INSERT INTO idempotency_keys VALUES ('other', 'b', 1);
      CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.key := 'other'; RETURN NEW; END $$;
      CREATE TRIGGER same BEFORE INSERT ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION same()`,
    reason: /^a trigger or a rule that is not of this program keeps or changes a key$/,
    fails: [createOnce],
    works: [find, list, create, replace, remove],
  },
  ...[
    ['divides by zero (22012)', 'PERFORM 1 / 0;', /^division by zero /],
    ['lacks a table of its own (42P01)', 'INSERT INTO gone VALUES (1);', /^relation "gone" does not exist /],
    ['raises a code of its own', "RAISE SQLSTATE 'ZZ999';", /^ZZ999 /],
    ['raises a code of the machine (53100)', 'RAISE disk_full;', /^disk_full /],
    ['raises the code of a cancelled statement (57014)', 'RAISE query_canceled;', /^query_canceled /],
    ['raises the code of a mistake in SQL (42601)', 'RAISE syntax_error;', /^syntax_error /],
    ['raises the code of a spent connection (25006)', 'RAISE read_only_sql_transaction;', /^read_only_sql/],
  ].map(([what, body, reason]) => ({
    name: `a trigger that ${what}`,
    sql: `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
      CREATE TRIGGER no BEFORE INSERT ON todos FOR EACH ROW EXECUTE FUNCTION no()`,
    reason: new RegExp(reason ?? ''),
    fails: [create, createOnce],
    works: [find, list, replace, remove],
  })),
  {
    name: 'a publication without a replica identity (55000)',
    sql: 'ALTER TABLE todos REPLICA IDENTITY NOTHING; CREATE PUBLICATION all_todos FOR TABLE todos',
    reason: /^cannot delete from table "todos" because it does not have a replica identity/,
    fails: [remove],
    works: [find, list, create, createOnce],
  },
];

for (const { name, sql, reason, fails, works } of refusals) {
  test(`${name} of others fails what it refuses, once and alone: still ready, and one line for each [D11]`, async () => {
    const { url, own } = await makeServing(server);
    const told: Event[] = [];
    await using store = await openPatient(own, { migrate: false, logEvent: (event) => told.push(event) });
    await addedTo(store, 'a');
    await server.execute(url, sql);
    // What this leaves behind on connections is not of the refusals.
    for (const use of [find, list, ...fails]) await use(store).catch(() => {});
    const before = await server.backends(url);
    for (const use of [...fails, ...fails]) await assert.rejects(use(store), isRefusedAs(reason));
    await store.check();
    for (const use of works) await use(store);
    // No connection was given up for it.
    const after = new Set(await server.backends(url));
    assert.deepEqual(
      before.filter((pid) => !after.has(pid)),
      [],
    );
    const lines = told.filter(({ event }) => event.startsWith('schema'));
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['schema-refuses'],
    );
    assert.match(lines.map((line) => ('reason' in line ? line.reason : '')).join(), reason);
  });
}

test('a part that refuses has one line, whatever of a write its place shows; a hundred parts have no more [D11]', async () => {
  const { url, own } = await makeServing(server);
  const told: Event[] = [];
  await using store = await openPatient(own, { migrate: false, logEvent: (event) => told.push(event) });
  const refuse = (body: string) =>
    server.execute(
      url,
      `CREATE OR REPLACE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
      CREATE OR REPLACE TRIGGER no BEFORE INSERT ON todos FOR EACH ROW EXECUTE FUNCTION no()`,
    );
  const lines = () => told.filter(({ event }) => event === 'schema-refuses').length;
  const addAll = async (many: number) => {
    for (let at = 0; at < many; at += 1)
      await assert.rejects(store.add(newTodo(`title ${at}`, 1)), isRefusedAs(/./));
  };
  await refuse("EXECUTE format('DO $do$ BEGIN RAISE check_violation; END $do$ /* %L */', NEW.title);");
  await addAll(5);
  assert.equal(lines(), 1);
  await refuse('RAISE check_violation USING CONSTRAINT = NEW.title;');
  await addAll(105);
  assert.equal(lines(), 100);
});

for (const [what, change, body, reason, uses, times] of [
  [
    'a create that a trigger refuses is sent once',
    'INSERT',
    'RAISE check_violation;',
    /^check_violation/,
    [create],
    1,
  ],
  [
    'a delete that a trigger leaves out is sent twice, and once with preconditions',
    'DELETE',
    'RETURN NULL;',
    /leaves out/,
    [remove, removeAsItIs],
    3,
  ],
  [
    'a delete that a trigger leaves out, and writes, is sent 101 times, and 100 with preconditions',
    'DELETE',
    'UPDATE public.todos SET gone = gone + 1 WHERE id = OLD.id; RETURN NULL;',
    /leaves out/,
    [remove, removeAsItIs],
    201,
  ],
] as const) {
  test(`${what} [D11]`, async () => {
    await using served = await serve();
    await server.execute(
      served.url,
      `ALTER TABLE todos ADD gone integer NOT NULL DEFAULT 0; CREATE SEQUENCE times;
      CREATE FUNCTION tally() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
        PERFORM nextval('public.times'); ${body} END $$;
      CREATE TRIGGER tally BEFORE ${change} ON todos FOR EACH ROW EXECUTE FUNCTION tally()`,
    );
    for (const use of uses) await assert.rejects(use(served.store), isRefusedAs(reason));
    const sent = await server.execute(served.url, 'SELECT last_value::int AS times FROM times');
    assert.deepEqual(sent, [{ times }]);
  });
}

test('a trigger of others that reads no number is no column of another type [D11]', async () => {
  await using served = await serve();
  const { url, store, told } = served;
  await server.execute(
    url,
    `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM 'x'::integer; RETURN NULL; END $$;
    CREATE TRIGGER note AFTER INSERT ON todos FOR EACH ROW EXECUTE FUNCTION note()`,
  );
  await assert.rejects(create(store), isRefusedAs(/^invalid input syntax for type integer: "x" /));
  await store.check();
  assert.deepEqual(told, []);
});

test('a refusal by row security that no look finds is that of the schema too [D11]', async () => {
  await using served = await serve();
  const { url, role, store, told } = served;
  await server.execute(
    url,
    `CREATE TABLE notes (id integer); GRANT SELECT ON notes TO ${role}; ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM FROM public.notes; RETURN NULL; END $$;
    CREATE TRIGGER note AFTER INSERT ON todos FOR EACH ROW EXECUTE FUNCTION note()`,
  );
  await assert.rejects(
    create(store),
    isRefusedAs(
      /row-level security policy for table "notes" \(SQL statement "SELECT FROM public\.notes", PL\/pgSQL function note\(\) /,
    ),
  );
  await store.check();
  assert.deepEqual(told, []);
});

test('what was missing and is there again when somebody looks is asked for once more [D11]', async () => {
  await using served = await serve();
  const { url, store, told } = served;
  // Twice it does what a right does that was revoked.
  await server.execute(
    url,
    `CREATE SEQUENCE times;
    CREATE FUNCTION twice() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      IF nextval('public.times') < 3 THEN RAISE insufficient_privilege; END IF; RETURN NEW; END $$;
    CREATE TRIGGER twice BEFORE INSERT ON todos FOR EACH ROW EXECUTE FUNCTION twice()`,
  );
  await addedTo(store, 'b');
  assert.deepEqual(
    (await listed(store)).map(({ title }) => title),
    ['a', 'b'],
  );
  assert.deepEqual(told, []);
});

for (const { name, reason, spoil } of faults.filter(({ code }) => code !== '42501')) {
  test(`a start with ${name} is refused with the reason [D11]`, async () => {
    const { url, role, own } = await makeServing(server);
    await server.execute(url, spoil(role));
    await assert.rejects(openPatient(own, { migrate: false, patienceMs: 0 }), ({ message }: Error) => {
      const [, fault = ''] = /^Cannot open the database ".*?": (.*)$/.exec(message) ?? [];
      // Without its schema a role finds nothing of it.
      assert.match(
        fault,
        fault.includes('finds no list') ? /: GRANT USAGE ON SCHEMA public TO role_/ : reason,
      );
      return true;
    });
  });
}

async function nextId(url: string, table = 'todos'): Promise<unknown> {
  const [row] = await server.execute(url, `SELECT last_value + is_called::int AS next FROM ${table}_id_seq`);
  return Number(row?.next);
}

/** `next`: the id that the sequence gives. `highest`: the highest id that was given out. */
const sequences: readonly [name: string, sql: string, table: string, next: number, highest: number][] = [
  ['behind rows', COPIED, 'todos', 1, 40],
  [
    'behind rows by one, after the sequence gave out some',
    `${COPIED}; SELECT setval('todos_id_seq', 39)`,
    'todos',
    40,
    40,
  ],
  [
    'behind tombstones, which are above the rows',
    `${COPIED}; DELETE FROM todos WHERE id > 30; SELECT setval('todos_id_seq', 30)`,
    'todos',
    31,
    40,
  ],
  [
    'behind kept keys, which are above rows and tombstones',
    `${COPIED}; SELECT setval('todos_id_seq', 40); INSERT INTO idempotency_keys VALUES (repeat('A', 43), repeat('A', 43), 55)`,
    'todos',
    41,
    55,
  ],
  [
    'behind categories',
    "INSERT INTO categories (id, name) OVERRIDING SYSTEM VALUE VALUES (9, 'Garden')",
    'categories',
    3,
    9,
  ],
  ['above the rows', `${COPIED}; SELECT setval('todos_id_seq', 100)`, 'todos', 101, 40],
  ['told where to restart', `${COPIED}; ALTER TABLE todos ALTER COLUMN id RESTART WITH 41`, 'todos', 41, 40],
];

for (const [name, sql, table, next, highest] of sequences) {
  const isBehind = next <= highest;
  const said = isBehind
    ? 'check says FAULT, --no-migrate is refused, migrate puts it above'
    : 'check says nothing, --no-migrate starts, migrate leaves it';
  test(`a sequence ${name}: ${said} [D12]`, async () => {
    const url = await filled(sql);
    const fault = `the sequence of "${table}" is behind, and ids up to ${highest} are taken: run "todo-service migrate"`;
    assert.deepEqual(await server.faults(url), isBehind ? [fault] : []);
    const starting = openPatient(url, { migrate: false });
    if (isBehind)
      await assert.rejects(starting, ({ name: error, message }: Error) => {
        return error === 'OperatorError' && message.endsWith(`: ${fault}`);
      });
    else await (await starting)[Symbol.asyncDispose]();
    await migratePostgres(url);
    assert.equal(await nextId(url, table), Math.max(next, highest + 1));
    assert.deepEqual(await server.faults(url), []);
  });
}

test('a start that migrates puts the sequence above, and the first create is made [D12]', async () => {
  await using store = await openPatient(await filled(COPIED));
  assert.equal((await addedTo(store, 'a')).id, 41);
});

test('ids up to 2147483647 are taken: afterwards none is given out [D12]', async () => {
  const url = await filled(
    "INSERT INTO todos (id, title, category_id) OVERRIDING SYSTEM VALUE VALUES (2147483647, 'last', 1)",
  );
  await using store = await openPatient(url);
  await assert.rejects(store.add(newTodo('a', 1)), { name: 'IdsExhausted' });
});

test('a sequence of another name, in a schema that needs quotes, is put above [D12]', async () => {
  const url = await server.makeDatabase();
  const database = new URL(url).pathname.slice(1);
  const sql = `CREATE SCHEMA "My Todos"; ALTER DATABASE ${database} SET search_path = "My Todos"`;
  await server.execute(url, sql);
  await migratePostgres(url);
  await server.execute(url, `ALTER SEQUENCE todos_id_seq RENAME TO "Ids of todos"; ${COPIED}`);
  await using store = await openPatient(url);
  assert.equal((await addedTo(store, 'a')).id, 41);
});

test('of migrations at once, and with instances that start, no id is given out twice [D12]', async () => {
  const url = await filled(COPIED);
  const migrating = Array.from({ length: 4 }, () => migratePostgres(url));
  await using stores = new AsyncDisposableStack();
  const opened = await Promise.all(Array.from({ length: 4 }, () => openPatient(url, { connections: 2 })));
  for (const store of opened) stores.use(store);
  const added = opened.flatMap((store) => Array.from({ length: 10 }, () => addedTo(store, 'a')));
  const ids = (await Promise.all(added)).map(({ id }) => id);
  await Promise.all(migrating);
  assert.deepEqual(
    ids.toSorted((one, other) => one - other),
    Array.from({ length: 40 }, (_, index) => 41 + index),
  );
  assert.equal(await nextId(url), 81);
});

test('migrate waits for a create that is under way, and creates wait for migrate [D12]', async () => {
  const url = await filled(
    "INSERT INTO todos (id, title, category_id) OVERRIDING SYSTEM VALUE VALUES (40, 'a', 1)",
  );
  const insert = "INSERT INTO todos (title, category_id) VALUES ('under way', 1)";
  await using creating = await server.session(url, `BEGIN; ${insert}`);
  const migrating = migratePostgres(url);
  await server.somebodyWaits(url);
  const next = server.execute(url, "INSERT INTO todos (title, category_id) VALUES ('next', 1) RETURNING id");
  await creating.query('COMMIT');
  await migrating;
  assert.deepEqual(await next, [{ id: 41 }]);
  assert.deepEqual(await server.execute(url, 'SELECT array_agg(id ORDER BY id) AS ids FROM todos'), [
    { ids: [1, 40, 41] },
  ]);
});

test('rows that are copied while migrate waits for the table are seen [D12]', async () => {
  const url = await filled(COPIED);
  const insert = "INSERT INTO todos (id, title, category_id) OVERRIDING SYSTEM VALUE VALUES (90, 'late', 1)";
  await using copying = await server.session(url, `BEGIN; ${insert}`);
  const migrating = migratePostgres(url);
  await server.somebodyWaits(url);
  await copying.query('COMMIT');
  await migrating;
  assert.equal(await nextId(url), 91);
});

/** A role that may write all tables, and so lock them, but give no sequence another value. */
async function makeWriter(url: string): Promise<string> {
  const { role, url: own } = await server.makeRole(url);
  await server.execute(
    url,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role};
    GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO ${role}`,
  );
  return own;
}

test('a role that may not put sequences above is told who may [D12]', async () => {
  const own = await makeWriter(await filled(COPIED));
  await assert.rejects(openPatient(own), {
    message: /are taken: run "todo-service migrate", as the owner of the tables$/,
  });
});

test('a role that may not put sequences above starts when their owner does it at that moment [D12]', async () => {
  const url = await filled(COPIED);
  const own = await makeWriter(url);
  await using owner = await server.session(url, 'BEGIN; ALTER SEQUENCE todos_id_seq RESTART WITH 41');
  const opening = openPatient(own);
  // It has seen that the sequence is behind, and puts it above as soon as the owner has.
  await server.somebodyWaits(url);
  await owner.query('COMMIT');
  await using store = await opening;
  assert.equal((await addedTo(store, 'a')).id, 41);
});

test('who may not look at the sequences is told what to grant [D12]', async () => {
  const url = await filled('');
  const { role, url: own } = await server.makeRole(url);
  await server.execute(url, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`);
  const message = new RegExp(
    `its role lacks rights: GRANT SELECT ON SEQUENCE todos_id_seq TO ${role}; GRANT SELECT ON SEQUENCE categories_id_seq TO ${role}$`,
  );
  await assert.rejects(openPatient(own), { message });
  await using operator = await openPostgresMaintenance(own);
  await assert.rejects(operator.inspect(), { name: 'StoreUnavailable', message });
});

test('a category whose id is taken is not added, and the operator is told what helps [D12]', async () => {
  const url = await filled(
    "INSERT INTO categories (id, name) OVERRIDING SYSTEM VALUE VALUES (3, 'Garden'), (4, 'Park')",
  );
  await using operator = await openPostgresMaintenance(url);
  await assert.rejects(operator.addCategory('Kitchen'), {
    message:
      /"categories_pkey": the sequence of "categories" is behind, and ids up to 4 are taken: run "todo-service migrate"$/,
  });
  await assert.rejects(operator.addCategory('Kitchen'), {
    message: /"categories_pkey": a repeat takes the next one. If it fails too, see "todo-service check"$/,
  });
  assert.deepEqual(await operator.addCategory('Kitchen'), { id: 5, name: 'Kitchen' });
});

test('a role whose transactions are serializable by default migrates as well', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await server.execute(url, `ALTER ROLE ${owner} SET default_transaction_isolation = 'serializable'`);
  const opened = await Promise.all(Array.from({ length: 4 }, () => openPatient(url, { connections: 1 })));
  for (const store of opened) await store[Symbol.asyncDispose]();
});

test('a server that was built without XML will do', async () => {
  const { url } = await server.makeOwnedDatabase();
  const database = new URL(url).pathname;
  const { href } = Object.assign(new URL(server.url), { pathname: database });
  await server.execute(href, 'REVOKE EXECUTE ON FUNCTION query_to_xml FROM PUBLIC');
  await using store = await openPatient(url);
  await addedTo(store, 'a');
});

test('check finds that todo_purged has no row, and what it names mends it: else every list reads all todos', async () => {
  const url = await filled('DELETE FROM todo_purged');
  const mend = 'INSERT INTO todo_purged VALUES (pg_current_xact_id())';
  const fault = `"todo_purged" must have one row, received 0, so every list reads all todos: ${mend}`;
  assert.deepEqual(await server.faults(url), [fault]);
  await server.execute(url, mend);
  assert.deepEqual(await server.faults(url), []);
});
