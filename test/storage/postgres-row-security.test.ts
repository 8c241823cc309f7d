import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreBroken, type TodoStore } from '../../src/shared-list/store.ts';
import { openPostgresMaintenance } from '../../src/storage/postgres/maintenance.ts';
import { openExport, openImport } from '../../src/storage/postgres/transfer.ts';
import { missing, startPgBouncer } from './poolers.ts';
import { migratePostgres, openPatient } from './postgres-pool.ts';
import { makeServing } from './postgres-rights.ts';
import { atPort, PostgresServer } from './postgres-server.ts';
import { addedTo, found, listed, listenToSchema, newTodo, once, replacement, wrong } from './todos.ts';

const server = await PostgresServer.startForAll('fsync=on');

type Use = (store: TodoStore) => Promise<unknown>;

/** The methods of a store that ask the database for rows: each has a use of its name, and may have others. */
type Question = Exclude<keyof TodoStore, 'check' | 'sizes' | 'connections' | typeof Symbol.asyncDispose>;

const uses = {
  find: async (store) => found(store, 1),
  list: async (store) => store.list(),
  add: (store) => store.add(newTodo('b', 1)),
  addOnce: (store) => store.add(newTodo('b', 1), once('b', 'b')),
  repeat: (store) => store.add(newTodo('a', 1), once('a', 'a')),
  replace: (store) => store.replace(1, replacement('a', false, 1)),
  replaceIf: async (store) => {
    const todo = await store.find(1);
    return store.replace(1, replacement('a', false, 1), { ifMatch: [todo?.etag ?? ''] });
  },
  remove: (store) => store.remove(2),
  removeNone: (store) => store.remove(9),
  findNone: async (store) => found(store, 9),
} as const satisfies Readonly<Record<Question, Use> & Record<string, Use>>;

type Name = keyof typeof uses;
const ALL = Object.keys(uses) as Name[];

/** Tables, and what needs their rows. */
const needed: readonly [table: string, fails: readonly Name[]][] = [
  ['todos', ALL],
  ['categories', ['replaceIf']],
  ['idempotency_keys', ['addOnce', 'repeat']],
  ['todo_tombstones', ['list']],
  ['todo_purged', ['list']],
  ['todo_schema', []],
];

const hide = (table: string) => `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`;
const show = (table: string) => `ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY`;

/** As a part of a regular expression. */
const literally = (text: string): string => text.replaceAll(/[().]/g, '\\$&');

/** What is said of a role that does not see all rows. */
const faultOf = (role: string, ...tables: readonly string[]) =>
  `row security would hide rows of ${tables.map((table) => `"${table}"`).join(', ')} from the role ${role}: ` +
  `${tables.map(show).join('; ')}; or ALTER ROLE ${role} BYPASSRLS`;

interface Warm extends AsyncDisposable {
  /** The owner's. */
  readonly url: string;
  readonly own: string;
  readonly role: string;
  readonly store: TodoStore;
  readonly told: readonly (string | undefined)[];
}

/** Where a database is reached. */
interface Reached {
  readonly url: string;
  readonly end: () => Promise<void>;
}

const directly = async (own: string, _role: string): Promise<Reached> => ({ url: own, end: async () => {} });

/** A store of a role without more rights than it needs: the todos 1 to 3, of which 1 has the key "a", and a list that was read. */
async function warm(reach = directly): Promise<Warm> {
  const { url, role, own: direct } = await makeServing(server);
  const { told, logEvent } = listenToSchema();
  const { url: own, end } = await reach(direct, role);
  const store = await openPatient(own, { migrate: false, logEvent });
  await addedTo(store, 'a', 1, once('a', 'a'));
  for (const title of ['b', 'c']) await addedTo(store, title);
  await listed(store);
  const dispose = async () => {
    await store[Symbol.asyncDispose]();
    await end();
  };
  return { url, own, role, store, told, [Symbol.asyncDispose]: dispose };
}

/** Resolves when nothing is told to be wrong. */
async function mended({ told, store }: Warm): Promise<void> {
  while (told.at(-1) !== undefined) await sleep(20);
  await store.check();
}

async function holds(warmed: Warm, table: string, fails: readonly Name[]): Promise<void> {
  const { url, role, store, told } = warmed;
  const refused = new StoreBroken(faultOf(role, table));
  await server.execute(url, hide(table));
  for (const name of fails) await assert.rejects(uses[name](store), refused, name);
  assert.deepEqual(await wrong(store), refused);
  for (const name of fails) await assert.rejects(uses[name](store), refused, name);
  for (const name of ALL) if (!fails.includes(name)) await uses[name](store);
  assert.deepEqual(told, [refused.message]);
  await server.execute(url, show(table));
  await mended(warmed);
  for (const name of ALL) await uses[name](store);
  assert.ok((await listed(store)).length >= 2);
}

describe('under a service whose list is warm', { concurrency: true }, () => {
  for (const [table, fails] of needed) {
    test(`row security on ${table} fails what needs its rows, is told once, and is mended [D11]`, async () => {
      await using warmed = await warm();
      await holds(warmed, table, fails);
    });
  }

  test('a policy that shows some todos, or all, changes nothing: no read is a shorter one [D11]', async () => {
    await using warmed = await warm();
    const { url, role, store } = warmed;
    const refused = new StoreBroken(faultOf(role, 'todos'));
    await server.execute(url, `CREATE POLICY seen ON todos USING (id > 1); ${hide('todos')}`);
    for (const use of Object.values(uses)) await assert.rejects(use(store), refused);
    await server.execute(url, 'CREATE POLICY whole ON todos USING (true)');
    await assert.rejects(listed(store), refused);
    await server.execute(url, `ALTER ROLE ${role} BYPASSRLS`);
    await mended(warmed);
    assert.equal((await listed(store)).length, 3);
  });

  test('who bypasses row security, or owns the tables, sees all and is ready [D11]', async () => {
    await using warmed = await warm();
    const { url, role, store } = warmed;
    const { owner, url: ofOwner } = await server.makeOwnedDatabase();
    await using owning = await openPatient(ofOwner);
    await addedTo(owning, 'a');
    await server.execute(url, `ALTER ROLE ${role} BYPASSRLS; ALTER TABLE todos FORCE ROW LEVEL SECURITY`);
    await server.execute(ofOwner, needed.map(([table]) => hide(table)).join(';'));
    await server.execute(url, needed.map(([table]) => hide(table)).join(';'));
    await sleep(5_000);
    for (const use of Object.values(uses)) await use(store);
    await store.check();
    await owning.check();
    assert.equal((await listed(owning)).length, 1);
    await using _again = await openPatient(ofOwner, { migrate: false });
    assert.deepEqual(await server.faults(ofOwner), []);
    await server.execute(ofOwner, 'ALTER TABLE todos FORCE ROW LEVEL SECURITY');
    await assert.rejects(listed(owning), new StoreBroken(faultOf(owner, 'todos')));
  });

  test('tombstones that the owner of the functions may not write fail removals, and nothing else [D11]', async () => {
    const { owner, url } = await server.makeOwnedDatabase();
    await migratePostgres(url);
    const { role, url: own } = await server.makeRole(url.replace(owner, 'postgres'));
    await server.execute(url, `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
    await server.execute(url, `GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO ${role}`);
    await server.execute(server.url, `ALTER ROLE ${role} BYPASSRLS`);
    const { told, logEvent } = listenToSchema();
    await using store = await openPatient(own, { migrate: false, logEvent });
    for (const title of ['a', 'b', 'c']) await addedTo(store, title);
    await listed(store);
    await server.execute(
      url,
      `${hide('todo_tombstones')}; ALTER TABLE todo_tombstones FORCE ROW LEVEL SECURITY`,
    );
    const refused = new StoreBroken(faultOf(owner, 'todo_tombstones'));
    await assert.rejects(uses.remove(store), refused);
    for (const name of ALL) if (name !== 'remove') await uses[name](store);
    await assert.rejects(store.check(), refused);
    assert.deepEqual(told, [refused.message]);
    await assert.rejects(openPatient(own, { migrate: false }), { name: 'OperatorError' });
    await using operator = await openPostgresMaintenance(own);
    assert.deepEqual((await operator.inspect()).faults, [refused.message]);
  });
});

/** Four read again and again while row security comes and goes: each time all that was made before, or it is an error. */
async function comesAndGoes(
  { url, store }: Warm,
  read: (store: TodoStore) => Promise<number>,
): Promise<void> {
  let made = 3;
  let over = false;
  let refused = 0;
  const readers = Array.from({ length: 4 }, async () => {
    while (!over) {
      const before = made;
      try {
        const count = await read(store);
        assert.ok(count >= before, `${count} of ${before}`);
      } catch (error) {
        if (!(error instanceof StoreBroken)) throw error;
        refused += 1;
      }
    }
  });
  const changes = async () => {
    for (let round = 0; round < 30; round += 1) {
      await server.execute(url, hide('todos'));
      await server.execute(url, "INSERT INTO todos (title, category_id) VALUES ('b', 1)");
      made += 1;
      await server.execute(url, show('todos'));
    }
    over = true;
  };
  await Promise.all([...readers, changes()]);
  assert.ok(refused > 0);
  assert.equal(await read(store), made);
}

const countListed = async (store: TodoStore) => (await listed(store)).length;
/** Of the todos up to 50, by their ids. */
const countFound = async (store: TodoStore) =>
  (await Promise.all(Array.from({ length: 50 }, (_, at) => store.find(at + 1)))).filter(Boolean).length;

for (const [what, read] of [
  ['list', countListed],
  ['todo', countFound],
] as const) {
  test(`while row security comes and goes, each ${what} is there or an error [D11]`, async () => {
    await using warmed = await warm();
    await comesAndGoes(warmed, read);
  });
}

for (const [table] of needed) {
  test(`a start, and whatever reads, is refused while row security hides ${table} [D11]`, async () => {
    const { url, own, role } = await makeServing(server);
    await server.execute(url, hide(table));
    const says = faultOf(role, table);
    const refused = { name: 'OperatorError', message: new RegExp(`: ${literally(says)}$`) };
    for (const migrate of [true, false])
      await assert.rejects(openPatient(own, { migrate, patienceMs: 0 }), refused);
    await assert.rejects(migratePostgres(own), refused);
    await assert.rejects(openExport(own), refused);
    await assert.rejects(openImport(own), refused);
    // Without the version of the schema nothing more is looked at.
    if (table === 'todo_schema') return assert.rejects(openPostgresMaintenance(own), refused);
    await using operator = await openPostgresMaintenance(own);
    assert.deepEqual((await operator.inspect()).faults, [says]);
    if (table !== 'categories') return;
    await assert.rejects(operator.listCategories(), {
      name: 'StoreUnavailable',
      message: new RegExp(`: ${literally(says)}$`),
    });
  });
}

test('a category of a table that hides rows is neither added nor renamed, with what mends it [D11]', async () => {
  const { url, own, role } = await makeServing(server);
  await server.execute(
    url,
    `GRANT INSERT, UPDATE ON categories TO ${role}; CREATE POLICY whole ON categories USING (true)`,
  );
  await server.execute(url, hide('categories'));
  await using operator = await openPostgresMaintenance(own);
  const refused = {
    name: 'StoreUnavailable',
    message: new RegExp(`: ${literally(faultOf(role, 'categories'))}$`),
  };
  await assert.rejects(operator.addCategory('Garden'), refused);
  await assert.rejects(operator.renameCategory(1, 'Garden'), refused);
});

/** Settings that the role must bring behind a pooler. */
const NEEDED = ["statement_timeout = '1200ms'", "client_connection_check_interval = '2000ms'"];

/** What a role needs behind a PgBouncer of this test's own, and how it is reached there. */
const throughPgBouncer =
  (settings: readonly string[]) =>
  async (own: string, role: string): Promise<Reached> => {
    for (const setting of settings) await server.execute(server.url, `ALTER ROLE ${role} SET ${setting}`);
    const bouncer = await startPgBouncer(server, [role, 'postgres'], []);
    return { url: atPort(own, bouncer.port), end: async () => bouncer[Symbol.asyncDispose]() };
  };

describe('behind PgBouncer in transaction mode', { skip: missing('pgbouncer'), concurrency: true }, () => {
  for (const [what, settings] of [
    ['does not bring the setting', NEEDED],
    ['brings it', [...NEEDED, 'row_security = off']],
  ] as const) {
    for (const [table, fails] of needed) {
      test(`where the role ${what}, row security on ${table} is an error as well [D11]`, async () => {
        await using warmed = await warm(throughPgBouncer(settings));
        // Without it a list that sees no tombstones is read as a whole, and a repeat needs the key alone.
        const right: readonly Name[] = table === 'todos' ? ['repeat'] : ['list'];
        const hold = settings === NEEDED ? fails.filter((name) => !right.includes(name)) : fails;
        await holds(warmed, table, hold);
      });
    }

    test(`where the role ${what}, a start and an export are refused, and no policy makes a read shorter [D11]`, async () => {
      await using warmed = await warm(throughPgBouncer(settings));
      const { url, own, role, store } = warmed;
      const policies = ['todos', 'idempotency_keys'].map(
        (table) => `CREATE POLICY made ON ${table} FOR INSERT WITH CHECK (true);
          CREATE POLICY seen ON ${table} FOR SELECT USING (${table === 'todos' ? 'id > 1' : 'false'}); ${hide(table)}`,
      );
      await server.execute(url, policies.join(';'));
      const refused = new StoreBroken(faultOf(role, 'todos', 'idempotency_keys'));
      for (const name of ['find', 'list', 'repeat', 'replace', 'replaceIf'] as const)
        await assert.rejects(uses[name](store), refused, name);
      for (const open of [
        () => openPatient(own, { migrate: false }),
        () => openPatient(own),
        () => openExport(own),
      ])
        await assert.rejects(open(), {
          name: 'OperatorError',
          message: /: row security would hide rows of /,
        });
    });
  }

  test('where later sessions of the role lack the setting, no todo is taken for one that is not there [D11]', async () => {
    await using warmed = await warm(throughPgBouncer([...NEEDED, 'row_security = off']));
    const { url, role, store } = warmed;
    await server.execute(
      url,
      `ALTER ROLE ${role} RESET row_security; ${hide('todos')};
      SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '${role}'`,
    );
    const refused = new StoreBroken(faultOf(role, 'todos'));
    for (const name of ['find', 'replace', 'replaceIf', 'remove', 'list'] as const)
      await assert.rejects(uses[name](store), refused, name);
  });

  test('while row security comes and goes, each list is whole or an error [D11]', async () => {
    await using warmed = await warm(throughPgBouncer(NEEDED));
    await comesAndGoes(warmed, countListed);
  });
});
