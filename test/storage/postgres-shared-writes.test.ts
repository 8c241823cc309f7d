import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryResultRow } from 'pg';
import type { TodoStore } from '../../src/shared-list/store.ts';
import { addressOf } from '../../src/storage/postgres/address.ts';
import { Cluster } from '../../src/storage/postgres/cluster.ts';
import type { Statement } from '../../src/storage/postgres/postgres-connection.ts';
import type { Limits } from '../../src/storage/postgres/postgres-connection-pool.ts';
import { StatementPool, type When } from '../../src/storage/postgres/statement-pool.ts';
import { writesOf } from '../../src/storage/postgres/writes.ts';
import { openPatient, PATIENT } from './postgres-pool.ts';
import { atPort, PostgresServer } from './postgres-server.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import { addedTo, found, listed, newTodo, replacement } from './todos.ts';

const server = await PostgresServer.startForAll();

/** A pool that writes down the names of the statements that write. */
class NotedPool extends StatementPool {
  readonly names: (string | undefined)[] = [];

  constructor(url: string, limits: Partial<Limits> = {}) {
    super(new Cluster(addressOf(url), true), { ...PATIENT, connections: 4, ...limits }, () => {});
  }

  override write<Row extends QueryResultRow>(statement: Statement, ...when: When): Promise<readonly Row[]> {
    this.names.push(typeof statement === 'string' ? statement : statement.name);
    return super.write(statement, ...when);
  }
}

/** The writes of a new database, whose first category has a todo: creates in it may share. */
async function openWrites(url: string, limits: Partial<Limits> = {}, withinMs = PATIENT.connectionMs) {
  const pool = new NotedPool(url, limits);
  const writes = writesOf(pool, withinMs);
  const first = await writes.add(newTodo('first', 1));
  assert.equal(first, 1);
  pool.names.length = 0;
  return { pool, writes, [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** The titles by id, as the database has them. */
async function titlesOf(url: string): Promise<Map<unknown, unknown>> {
  const rows = await server.execute(url, 'SELECT id, title FROM todos ORDER BY id');
  return new Map(rows.map(({ id, title }) => [id, title]));
}

test('creates of one turn share a statement of at most 64, and each gets the id of its own todo [D28]', async () => {
  const url = await server.makeMigrated();
  await using opened = await openWrites(url);
  const numbers = upTo(100);
  // A statement that is quick lets the next one have twice as many.
  while (opened.pool.names.length !== 2) {
    opened.pool.names.length = 0;
    const ids = await Promise.all(numbers.map((number) => opened.writes.add(newTodo(`n${number}`, 1))));
    const titles = await titlesOf(url);
    assert.deepEqual(
      ids.map((id) => titles.get(id)),
      numbers.map((number) => `n${number}`),
    );
  }
  assert.deepEqual(opened.pool.names, ['add-several', 'add-several']);
  const sizes = await server.execute(
    url,
    'SELECT count(*)::integer AS todos FROM todos GROUP BY changed ORDER BY changed DESC LIMIT 2',
  );
  assert.deepEqual(sizes.map(({ todos }) => todos).toSorted(), [36, 64]);
});

test('a write that comes alone is the statement that it was [D28]', async () => {
  await using opened = await openWrites(await server.makeMigrated());
  await opened.writes.add(newTodo('a', 1));
  await opened.writes.replace([1, null, newTodo('b', 1)]);
  await opened.writes.remove([1, null]);
  assert.deepEqual(opened.pool.names, ['add', 'replace', 'remove']);
});

test('what may stand in a title arrives as it was sent [D28]', async () => {
  const url = await server.makeMigrated();
  await using opened = await openWrites(url);
  const odd = ['"', '\\', '{a,b}', 'NULL', "'", ' a ', '\n', '\u{10ffff}', '(,)', '\\"'];
  const ids = await Promise.all(odd.map((title) => opened.writes.add(newTodo(title, 1))));
  const again = odd.map((title, place) =>
    opened.writes.replace([ids[place] ?? 0, null, newTodo(`${title}!`, 1)]),
  );
  assert.ok((await Promise.all(again)).every(Boolean));
  assert.deepEqual(opened.pool.names, ['add', 'add-several', 'replace', 'replace-several']);
  const titles = await titlesOf(url);
  assert.deepEqual(
    ids.map((id) => titles.get(id)),
    odd.map((title) => `${title}!`),
  );
});

test('who names a missing category costs the others neither a statement nor an id [D28]', async () => {
  const url = await server.makeMigrated();
  await using store = await openPatient(url, { connections: 4 });
  await addedTo(store, 'first');
  for (let turn = 0; turn < 5; turn += 1) {
    const missing = store.add(newTodo('x', 999));
    const added = await Promise.all(upTo(10).map(() => addedTo(store, 'a')));
    assert.equal(await missing, 'category-missing');
    assert.equal(new Set(added.map(({ id }) => id)).size, 10);
  }
  const [row] = await server.execute(
    url,
    'SELECT count(DISTINCT changed)::integer AS statements, max(id) <= 56 AS few FROM todos',
  );
  // A missing category takes the id that it always took.
  assert.deepEqual(row, { statements: 6, few: true });
});

test('a category that was deleted is said to those who name it, and the others are made [D28]', async () => {
  const url = await server.makeMigrated();
  await using store = await openPatient(url, { connections: 4 });
  await Promise.all([addedTo(store, 'a', 1), addedTo(store, 'b', 2)]);
  await server.execute(url, 'DELETE FROM todos WHERE category_id = 2; DELETE FROM categories WHERE id = 2');
  const outcomes = await Promise.all([1, 2, 1, 2, 1].map((category) => store.add(newTodo('c', category))));
  assert.deepEqual(
    outcomes.map((outcome) => (typeof outcome === 'string' ? outcome : 'made')),
    ['made', 'category-missing', 'made', 'category-missing', 'made'],
  );
  assert.equal((await listed(store)).length, 4);
});

test('who names a category that was found missing is sent alone, and undoes no statement of others [D28]', async () => {
  const url = await server.makeMigrated();
  await using opened = await openWrites(url);
  const { pool, writes } = opened;
  await writes.add(newTodo('b', 2));
  await server.execute(url, 'DELETE FROM todos WHERE category_id = 2; DELETE FROM categories WHERE id = 2');
  await assert.rejects(writes.add(newTodo('c', 2)), { code: '23503' });
  pool.names.length = 0;
  const adding = [1, 1, 1, 2].map((category) => writes.add(newTodo('d', category)));
  const settled = await Promise.allSettled(adding);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
  );
  assert.deepEqual(pool.names, ['add', 'add', 'add-several']);
});

test('a row that a trigger leaves out is said to its own caller, and the others are made once [D28]', async () => {
  const url = await server.makeMigrated();
  await using store = await openPatient(url, { connections: 4 });
  await addedTo(store, 'first');
  await server.execute(
    url,
    `CREATE FUNCTION leave_out() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN IF NEW.title = 'x' THEN RETURN NULL; END IF; RETURN NEW; END $$;
     CREATE TRIGGER leaves_out BEFORE INSERT OR UPDATE ON todos FOR EACH ROW EXECUTE FUNCTION leave_out()`,
  );
  const outcomes = await Promise.allSettled(['a', 'x', 'b'].map((title) => addedTo(store, title)));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  const before = await listed(store);
  const replaced = before.map(({ id }, place) => store.replace(id, newTodo(place === 1 ? 'x' : 'c', 1)));
  assert.deepEqual(
    (await Promise.allSettled(replaced)).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(
    (await listed(store)).map(({ title }) => title),
    ['c', before[1]?.title, 'c'],
  );
});

for (const [what, sql] of [
  ['that descends', 'ALTER SEQUENCE todos_id_seq INCREMENT BY -1 MINVALUE -1000 RESTART WITH 500'],
  [
    'that begins again',
    'ALTER SEQUENCE todos_id_seq MINVALUE 10 START WITH 10 MAXVALUE 20 RESTART WITH 19 CYCLE',
  ],
] as const) {
  test(`with a sequence ${what} each create gets the id of its own todo [D28]`, async () => {
    const url = await server.makeMigrated();
    await using opened = await openWrites(url);
    await server.execute(url, sql);
    const ids = await Promise.all(['a', 'b', 'c'].map((title) => opened.writes.add(newTodo(title, 1))));
    const titles = await titlesOf(url);
    assert.deepEqual(
      ids.map((id) => titles.get(id)),
      ['a', 'b', 'c'],
    );
    assert.deepEqual(opened.pool.names, ['add', 'add-several', 'add', 'add']);
  });
}

test('after a statement that was undone, the next writes are sent alone [D28]', async () => {
  const url = await server.makeMigrated();
  await using opened = await openWrites(url);
  await server.execute(url, "ALTER TABLE todos ADD CONSTRAINT short CHECK (title <> 'long')");
  const add = (...titles: readonly string[]) =>
    Promise.allSettled(titles.map((title) => opened.writes.add(newTodo(title, 1))));
  await add('a', 'long', 'b');
  await add('c', 'd');
  assert.deepEqual(opened.pool.names, ['add', 'add-several', 'add', 'add', 'add', 'add']);
  assert.deepEqual([...(await titlesOf(url)).values()].toSorted(), ['a', 'b', 'c', 'd', 'first']);
});

test('after a statement that was undone, the next ones that share have half as many writes [D28]', async () => {
  const url = await server.makeMigrated();
  await using opened = await openWrites(url);
  await server.execute(url, "ALTER TABLE todos ADD CONSTRAINT short CHECK (title <> 'long')");
  const titles = upTo(8).map((number) => `n${number}`);
  await addAll(opened, [...titles, 'long']);
  await sleep(1_000);
  opened.pool.names.length = 0;
  await addAll(opened, titles);
  assert.deepEqual(opened.pool.names, ['add-several', 'add-several']);
});

/** A store with todos 1 to `count`. */
async function openWith(url: string, count: number): Promise<TodoStore> {
  const store = await openPatient(url, { connections: 4 });
  for (const number of upTo(count)) await addedTo(store, `n${number}`);
  return store;
}

test('a todo that somebody holds keeps up nobody but who changes it [D28]', async () => {
  const url = await server.makeMigrated();
  await using store = await openWith(url, 6);
  const held = await server.lock(url, 'SELECT FROM todos WHERE id IN (1, 4) FOR UPDATE');
  const replaced = [1, 2, 3].map((id) => store.replace(id, replacement('r', true, 1)));
  const removed = [4, 5, 6].map((id) => store.remove(id));
  assert.deepEqual(await Promise.all(replaced.slice(1)), ['replaced', 'replaced']);
  assert.deepEqual(await Promise.all(removed.slice(1)), ['removed', 'removed']);
  assert.deepEqual(
    (await listed(store)).map(({ id, done }) => ({ id, done })),
    [
      { id: 1, done: false },
      { id: 2, done: true },
      { id: 3, done: true },
      { id: 4, done: false },
    ],
  );
  await held[Symbol.asyncDispose]();
  assert.deepEqual(await Promise.all([replaced[0], removed[0]]), ['replaced', 'removed']);
});

test('a category that somebody holds keeps up nobody but who names it [D28]', async () => {
  const url = await server.makeMigrated();
  await using store = await openWith(url, 1);
  await addedTo(store, 'b', 2);
  const held = await server.lock(url, 'SELECT FROM categories WHERE id = 2 FOR UPDATE');
  const waits = store.add(newTodo('waits', 2));
  assert.equal((await Promise.all([1, 1, 1].map((category) => addedTo(store, 'c', category)))).length, 3);
  await held[Symbol.asyncDispose]();
  assert.equal(typeof (await waits), 'object');
  assert.equal((await listed(store)).length, 6);
});

test('two changes of one todo in one turn are both made, and a missing todo is said to its own caller [D28]', async () => {
  const url = await server.makeMigrated();
  await using store = await openWith(url, 3);
  const outcomes = await Promise.all([
    store.replace(1, newTodo('x', 1)),
    store.replace(1, newTodo('y', 1)),
    store.replace(2, newTodo('z', 1)),
    store.replace(99, newTodo('z', 1)),
    store.replace(99, newTodo('z', 999)),
    store.replace(2, newTodo('z', 999)),
    store.remove(3),
    store.remove(3),
    store.remove(98),
  ]);
  assert.deepEqual(outcomes.slice(0, 6), [
    'replaced',
    'replaced',
    'replaced',
    'todo-missing',
    'todo-missing',
    'category-missing',
  ]);
  assert.deepEqual(outcomes.slice(6).toSorted(), ['removed', 'todo-missing', 'todo-missing']);
  assert.match((await found(store, 1))?.title ?? '', /^[xy]$/);
});

test('two instances that change the same todos in opposite orders wait for no deadlock [D28]', async () => {
  const url = await server.makeMigrated();
  await using first = await openWith(url, 16);
  await using second = await openPatient(url, { connections: 4 });
  await addedTo(second, 'known');
  for (let round = 0; round < 20; round += 1) {
    const there = upTo(16).map((id) => first.replace(id, newTodo(`a${round}`, 1)));
    const back = upTo(16)
      .toReversed()
      .map((id) => second.replace(id, newTodo(`b${round}`, 1)));
    assert.ok((await Promise.all([...there, ...back])).every((outcome) => outcome === 'replaced'));
  }
  const [row] = await server.execute(
    url,
    'SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()',
  );
  assert.deepEqual(row, { deadlocks: 0 });
});

test('with serializable transactions no change is lost and none is refused for another [D28]', async () => {
  const url = await server.makeMigrated();
  await server.execute(url, "ALTER ROLE postgres SET default_transaction_isolation = 'serializable'");
  try {
    await using first = await openWith(url, 8);
    await using second = await openPatient(url, { connections: 4 });
    await addedTo(second, 'known');
    const writes = [first, second].flatMap((store) => [
      ...upTo(8).map((id) => store.replace(id, newTodo('r', 1))),
      ...upTo(8).map(() => store.add(newTodo('a', 1))),
    ]);
    const outcomes = await Promise.allSettled(writes);
    const made = outcomes.filter(({ status }) => status === 'fulfilled').length;
    const failed = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason.name] : [],
    );
    assert.equal(made + failed.length, 32);
    assert.ok(
      failed.every((name) => name === 'StoreUnavailable'),
      `${failed}`,
    );
  } finally {
    await server.execute(url, 'ALTER ROLE postgres RESET default_transaction_isolation');
  }
});

test('changes with a version that was read share a statement, and one that came too late is not made [D28]', async () => {
  const url = await server.makeMigrated();
  await using opened = await openWrites(url);
  const { pool, writes } = opened;
  await Promise.all(upTo(7).map((number) => writes.add(newTodo(`n${number}`, 1))));
  const rows = await server.execute(url, 'SELECT xmin::text AS version FROM todos ORDER BY id');
  const versions = rows.map(({ version }) => String(version));
  await writes.replace([3, null, newTodo('faster', 1)]);
  await writes.remove([7, null]);
  pool.names.length = 0;
  const read = (id: number) => versions[id - 1] ?? '';
  const replaced = [1, 2, 3, 4].map((id) => writes.replace([id, read(id), newTodo(`later${id}`, 1)]));
  const removed = [5, 6, 7, 8].map((id) => writes.remove([id, read(id)]));
  assert.deepEqual(await Promise.all(replaced), [true, true, false, true]);
  assert.deepEqual(await Promise.all(removed), [true, true, false, true]);
  assert.deepEqual(pool.names.toSorted(), [
    'remove',
    'remove-several',
    'replace',
    'replace',
    'replace-several',
  ]);
  assert.deepEqual(
    [...(await titlesOf(url))],
    [
      [1, 'later1'],
      [2, 'later2'],
      [3, 'faster'],
      [4, 'later4'],
    ],
  );
});

/** Lets a trigger take so many seconds for a create, and refuse a title. */
const slowed = (seconds: number): string =>
  `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN PERFORM pg_sleep(${seconds}); IF NEW.title = 'x' THEN RAISE 'no'; END IF; RETURN NEW; END $$;
   CREATE TRIGGER slow BEFORE INSERT ON todos FOR EACH ROW EXECUTE FUNCTION slow()`;

/** Creates of one turn. The first is alone: until it is under way, nobody knows that others come with it. */
const addAll = (opened: { readonly writes: ReturnType<typeof writesOf> }, titles: readonly string[]) =>
  Promise.allSettled(titles.map((title) => opened.writes.add(newTodo(title, 1))));

test('a write that a statement of several has left no time is refused [D28]', async () => {
  const url = await server.makeMigrated();
  await using opened = await openWrites(url, {}, 600);
  await server.execute(url, slowed(0.35));
  const outcomes = (await addAll(opened, ['a', 'b', 'x'])).slice(1);
  const names = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.name);
  assert.deepEqual(names, ['StoreUnavailable', 'StoreUnavailable']);
  assert.ok(![...(await titlesOf(url)).values()].includes('b'));
});

test('a write that waits for a connection, or that the server undoes, is not sent late [D28]', async () => {
  const url = await server.makeMigrated();
  await using opened = await openWrites(url, { connections: 1 }, 300);
  await server.execute(
    url,
    `CREATE SEQUENCE tries; GRANT ALL ON SEQUENCE tries TO public;
     CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN PERFORM nextval('tries'), pg_sleep(0.7); RAISE 'undone' USING ERRCODE = '40001'; END $$;
     CREATE TRIGGER undo BEFORE INSERT ON todos FOR EACH ROW EXECUTE FUNCTION undo()`,
  );
  const outcomes = await addAll(opened, ['a', 'b']);
  const reasons = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.message);
  assert.match(reasons[0], /^undone/);
  assert.match(reasons[1], /none was free in \d+ ms$/);
  assert.deepEqual(await server.execute(url, 'SELECT last_value::integer FROM tries'), [{ last_value: 1 }]);
});

test('writes of a statement that the server gave up have its reason, and were not made [D28]', async () => {
  const url = await server.makeMigrated();
  await using opened = await openWrites(url, { statementMs: 1_000 }, 900);
  {
    await using _held = await server.lock(url, 'LOCK TABLE todos IN EXCLUSIVE MODE');
    for (const outcome of await addAll(opened, ['a', 'b', 'c'])) {
      assert.ok(outcome.status === 'rejected');
      assert.equal(outcome.reason.name, 'StoreUnavailable');
      assert.match(outcome.reason.message, /statement timeout/);
    }
  }
  assert.deepEqual([...(await titlesOf(url)).values()], ['first']);
});

test('writes of a statement that somebody has cancelled are made alone [D28]', async () => {
  const url = await server.makeMigrated();
  await using opened = await openWrites(url);
  const held = await server.lock(url, 'LOCK TABLE todos IN EXCLUSIVE MODE');
  const added = addAll(opened, ['a', 'b', 'c']);
  await server.somebodyWaits(url, 2);
  await server.execute(
    url,
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'unnest'",
  );
  await held[Symbol.asyncDispose]();
  assert.ok((await added).every(({ status }) => status === 'fulfilled'));
  assert.deepEqual(opened.pool.names, ['add', 'add-several', 'add', 'add']);
});

test('after a statement that took long, the next ones have half as many writes [D28]', async () => {
  const url = await server.makeMigrated();
  await using opened = await openWrites(url);
  await server.execute(url, slowed(0.05));
  const titles = upTo(8).map((number) => `n${number}`);
  await addAll(opened, titles);
  assert.deepEqual(opened.pool.names.splice(0), ['add', 'add-several']);
  await addAll(opened, titles);
  assert.deepEqual(opened.pool.names, ['add-several', 'add-several', 'add-several']);
});

test('while others wait for a connection, a statement that takes long lets the next one have twice as many [D28]', async () => {
  const url = await server.makeMigrated();
  await using opened = await openWrites(url, { connections: 1 });
  await server.execute(url, slowed(0.006));
  const add = () => opened.writes.add(newTodo('a', 1));
  const [, second, ...others] = upTo(1 + 16 + 16 + 16).map(add);
  await second;
  await Promise.all([...others, ...upTo(32).map(add)]);
  assert.equal(opened.pool.names.filter((name) => name === 'add-several').length, 4);
});

test('where the database reads no null in an array, changes without a version share a statement [D28]', async () => {
  const url = await server.makeMigrated();
  await server.setForDatabase(url, 'array_nulls', 'off');
  await using opened = await openWrites(url);
  await addAll(opened, ['a', 'b', 'c', 'd', 'e']);
  opened.pool.names.length = 0;
  const replaced = [1, 2, 3].map((id) => opened.writes.replace([id, null, newTodo('r', 1)]));
  const removed = [4, 5, 6].map((id) => opened.writes.remove([id, null]));
  assert.ok((await Promise.all([...replaced, ...removed])).every(Boolean));
  assert.deepEqual(opened.pool.names.toSorted(), ['remove-several', 'replace', 'replace-several']);
});

/** What others may have made of the table. */
const SCHEMAS: Readonly<Record<string, string>> = {
  'as it was made': '',
  'with a constraint': "ALTER TABLE todos ADD CHECK (title NOT IN ('a2', 'r2'))",
  'with a deferred constraint': `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.title LIKE '%3%' THEN RAISE 'no' USING ERRCODE = '23514'; END IF; RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER late AFTER INSERT OR UPDATE ON todos DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION refuse()`,
  'with a rule in place of creates': 'CREATE RULE none AS ON INSERT TO todos DO INSTEAD NOTHING',
  'with a rule in place of changes': `CREATE RULE none AS ON UPDATE TO todos WHERE NEW.id = 3 DO INSTEAD NOTHING;
    CREATE RULE nothing AS ON DELETE TO todos WHERE OLD.id = 6 DO INSTEAD NOTHING`,
  'with a unique title': 'CREATE UNIQUE INDEX ON todos (title)',
};

for (const [schema, sql] of Object.entries(SCHEMAS)) {
  for (const prepare of [true, false]) {
    test(`${schema}${prepare ? '' : ', not prepared'}, writes of one turn end as one after the other [D28]`, async () => {
      const [together, oneByOne] = await Promise.all(
        [true, false].map(async (atOnce) => {
          const url = await server.makeMigrated();
          await using store = await openPatient(url, { connections: 4, prepare });
          for (const number of upTo(6)) await addedTo(store, `n${number}`);
          await server.execute(url, sql);
          const writes = [
            ...[1, 2, 3].map((number) => () => store.add(newTodo(`a${number}`, 1))),
            ...[1, 2, 3].map((id) => () => store.replace(id, replacement(`r${id}`, true, 1))),
            ...[5, 6, 99].map((id) => () => store.remove(id)),
          ];
          const outcomes: PromiseSettledResult<unknown>[] = [];
          if (atOnce) outcomes.push(...(await Promise.allSettled(writes.map((write) => write()))));
          else for (const write of writes) outcomes.push(...(await Promise.allSettled([write()])));
          return {
            outcomes: outcomes.map((outcome) => {
              if (outcome.status === 'rejected') return outcome.reason.name;
              return typeof outcome.value === 'string' ? outcome.value : 'made';
            }),
            titles: [...(await titlesOf(url)).values()].toSorted(),
          };
        }),
      );
      assert.deepEqual(together, oneByOne);
    });
  }
}

test('where the answer to a commit is lost, the outcome of each write of the statement is unknown [D28]', async () => {
  const url = await server.makeMigrated();
  await using proxy = await startTcpProxy(server.port);
  await using store = await openPatient(atPort(url, proxy.port), { connections: 2 });
  await addedTo(store, 'first');
  const lock = await server.lock(url, 'LOCK TABLE todos IN EXCLUSIVE MODE');
  const outcomes = Promise.allSettled(['a', 'b', 'c'].map((title) => addedTo(store, title)));
  await server.somebodyWaits(url, 2);
  proxy.cut();
  const names = (await outcomes).map((outcome) => outcome.status === 'rejected' && outcome.reason.name);
  await lock[Symbol.asyncDispose]();
  assert.deepEqual(names, ['OutcomeUnknown', 'OutcomeUnknown', 'OutcomeUnknown']);
});
