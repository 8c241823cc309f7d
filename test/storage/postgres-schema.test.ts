import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import type { TodoStore } from '../../src/store/store.ts';
import { PostgresServer } from './postgres-server.ts';
import { addedTo, listed, listenToSchema, newTodo, replacement } from './todos.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

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
  const url = await server.makeMigrated();
  const { role, url: own } = await server.makeRole(url);
  await server.execute(url, rightsOf(role));
  const { told, tell } = listenToSchema();
  const store = await openPostgresStore(own, { migrate: false, tell });
  await addedTo(store, 'a');
  return { url, role, store, told, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

/** As docs/postgresql.md has them. */
const rightsOf = (role: string) =>
  `GRANT SELECT, INSERT, UPDATE, DELETE ON todos, idempotency_keys TO ${role};
  GRANT SELECT ON categories, todo_schema, todo_tombstones, todo_purged TO ${role};
  GRANT SELECT ON SEQUENCE todos_id_seq, categories_id_seq TO ${role}`;

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
const list: Use = async (store) => store.list();

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
    mend: () => 'ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_changed',
    reason:
      /^its trigger "todo_changed" is missing or off: ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_changed$/,
    fails: [create, createOnce],
    works: [find, list, replace, remove],
  },
  {
    name: 'a function of a trigger that was dropped with it',
    code: '23502',
    spoil: () => 'ALTER FUNCTION todo_changed() RENAME TO gone; DROP TRIGGER todo_changed ON todos',
    mend: () =>
      `ALTER FUNCTION gone() RENAME TO todo_changed;
      CREATE TRIGGER todo_changed BEFORE INSERT OR UPDATE ON todos FOR EACH ROW EXECUTE FUNCTION todo_changed()`,
    reason:
      /^its function todo_changed\(\) is missing; its trigger "todo_changed" is missing or off: ALTER TABLE /,
    fails: [create, createOnce],
    works: [find, list, replace, remove],
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

describe('D11 · without a restart', { concurrency: true }, () => {
  for (const { name, code, spoil, mend, reason, fails, works } of faults) {
    test(`${name} (${code}) fails what needs it, is told once, and is mended`, async () => {
      await using served = await serve();
      const { url, role, store, told } = served;
      await listed(store);
      await server.execute(url, spoil(role));
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

  test('a look that is asked for 5 s after the last one finds what no request has met', async () => {
    await using served = await serve();
    const { url, role, store, told } = served;
    await server.execute(url, `REVOKE DELETE ON todos FROM ${role}`);
    await store.check();
    await sleep(5_000);
    await assert.rejects(
      store.check(),
      isRefusedAs(/^its role lacks rights: GRANT DELETE ON todos TO role_\d+$/),
    );
    assert.equal(told.length, 1);
  });
});

test('D11 · a refusal of which the schema is not the reason stays what it is', async () => {
  await using served = await serve();
  const { url, store, told } = served;
  await server.execute(
    url,
    `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO nowhere VALUES (1); RETURN NULL; END $$;
    CREATE TRIGGER note AFTER INSERT ON todos FOR EACH ROW EXECUTE FUNCTION note()`,
  );
  await assert.rejects(create(store), { name: 'error', code: '42P01' });
  await store.check();
  assert.deepEqual(told, []);
});

for (const { name, reason, spoil } of faults.filter(({ code }) => code !== '42501')) {
  test(`D11 · a start with ${name} is refused with the reason`, async () => {
    const url = await server.makeMigrated();
    const { role, url: own } = await server.makeRole(url);
    await server.execute(url, `${rightsOf(role)}; ${spoil(role)}`);
    await assert.rejects(openPostgresStore(own, { migrate: false, patienceMs: 0 }), ({ message }: Error) => {
      const [, fault = ''] = /^Cannot open the database ".*?": (.*)$/.exec(message) ?? [];
      // Without its schema a role finds nothing of it.
      assert.match(fault, fault.includes('received 0') ? /: run "todo-service migrate" first$/ : reason);
      return true;
    });
  });
}
