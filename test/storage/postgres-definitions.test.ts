import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openPostgresMaintenance } from '../../src/storage/postgres/maintenance.ts';
import { openPatient } from './postgres-pool.ts';
import { makeServing } from './postgres-rights.ts';
import { PostgresServer } from './postgres-server.ts';

const server = await PostgresServer.startForAll('fsync=on');

/** A trigger or a rule of others does what the body says. */
const trigger = (on: string, body = 'RETURN NEW;', when = 'BEFORE INSERT', kind = 'TRIGGER'): string =>
  `CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
  CREATE ${kind} other ${when} ON ${on} FOR EACH ROW EXECUTE FUNCTION other()`;
const sequence = (change: string, table = 'todos') => `ALTER SEQUENCE ${table}_id_seq ${change}`;
const constraint = (name: string, definition: string, table = 'todos') =>
  `ALTER TABLE ${table} DROP CONSTRAINT ${name}, ADD CONSTRAINT ${name} ${definition}`;
const replaced = (name: string, body: string, rest: string) =>
  `CREATE OR REPLACE FUNCTION ${name} LANGUAGE plpgsql ${rest} AS $$ BEGIN ${body} END $$`;
/** Triggers of foreign keys off, and our own as they were. */
const OFF = `ALTER TABLE todos DISABLE TRIGGER ALL; ${['changed', 'removed', 'renumbered'].map((name) => `ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_${name}`).join(';')}`;

const CATEGORY = 'constraint todos_category_id_fkey of todos';
const TITLE = 'constraint todos_title_check of todos';
const IDS = 'column todos.id';
const AT = 'column idempotency_keys.at';
const KEY = 'column idempotency_keys.key';
const UNSEEN = 'function todo_unseen(pg_snapshot,integer)';

/** Changes of our parts, and the parts that are named for them. */
const changed: readonly [what: string, sql: string, ...names: string[]][] = [
  ['a time of keys in the past', "ALTER TABLE idempotency_keys ALTER at SET DEFAULT '2000-01-01'", AT],
  ['no time of keys', 'ALTER TABLE idempotency_keys ALTER at DROP DEFAULT', AT],
  ['another default', 'ALTER TABLE todos ALTER done SET DEFAULT true', 'column todos.done'],
  ['a default that is gone', 'ALTER TABLE todos ALTER done DROP DEFAULT', 'column todos.done'],
  ['a default more', "ALTER TABLE todos ALTER changed SET DEFAULT '1'", 'column todos.changed'],
  ['another collation of keys', 'ALTER TABLE idempotency_keys ALTER key TYPE text COLLATE "default"', KEY],
  [
    'another collation of titles',
    'ALTER TABLE todos ALTER title TYPE text COLLATE "C"',
    'column todos.title',
  ],
  ['a column that may be null', 'ALTER TABLE todos ALTER title DROP NOT NULL', 'column todos.title'],
  ['a sequence with gaps', sequence('INCREMENT 10'), IDS],
  ['a sequence that goes down', sequence('INCREMENT -1 START 100 RESTART 100'), IDS],
  ['a sequence with an earlier end', sequence('MAXVALUE 1000'), IDS],
  ['a sequence that begins again', sequence('MAXVALUE 1000 CYCLE'), IDS],
  ['a sequence below 1', sequence('MINVALUE -10'), IDS],
  ['a sequence of categories with an end', sequence('MAXVALUE 3', 'categories'), 'column categories.id'],
  ['a check that is gone', 'ALTER TABLE todos DROP CONSTRAINT todos_title_check', TITLE],
  ['a narrower check', constraint('todos_title_check', 'CHECK (char_length(title) < 9)'), TITLE],
  [
    'a key that is not valid',
    constraint('todos_category_id_fkey', 'FOREIGN KEY (category_id) REFERENCES categories NOT VALID'),
    CATEGORY,
  ],
  [
    'a key that is deferred',
    'ALTER TABLE todos ALTER CONSTRAINT todos_category_id_fkey DEFERRABLE INITIALLY DEFERRED',
    CATEGORY,
  ],
  ['a key that is off', OFF, CATEGORY],
  ['a foreign key that is gone', 'ALTER TABLE todos DROP CONSTRAINT todos_category_id_fkey', CATEGORY],
  [
    'keys that are gone, as after a restore that could not add them',
    'ALTER TABLE categories DROP CONSTRAINT categories_pkey CASCADE; ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_pkey',
    'constraint categories_pkey of categories',
    'constraint idempotency_keys_pkey of idempotency_keys',
    CATEGORY,
  ],
  [
    'a deferred primary key',
    constraint(
      'idempotency_keys_pkey',
      'PRIMARY KEY (key) DEFERRABLE INITIALLY DEFERRED',
      'idempotency_keys',
    ),
    'constraint idempotency_keys_pkey of idempotency_keys',
  ],
  [
    'a table without a key that is published without its rows, as before version 5',
    'ALTER TABLE todo_tombstones REPLICA IDENTITY DEFAULT',
    'replica identity of todo_tombstones',
  ],
  ['no replica identity', 'ALTER TABLE todos REPLICA IDENTITY NOTHING', 'replica identity of todos'],
  ['an index that is gone', 'DROP INDEX todos_changed', 'index todos_changed'],
  [
    'an index of another column',
    'DROP INDEX todos_changed; CREATE INDEX todos_changed ON todos (title)',
    'index todos_changed',
  ],
  [
    'a trigger with a condition',
    'CREATE OR REPLACE TRIGGER todo_removed AFTER DELETE ON todos FOR EACH ROW WHEN (OLD.done) EXECUTE FUNCTION todo_removed(); ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_removed',
    'trigger todo_removed of todos',
  ],
  [
    'another body of todo_changed',
    replaced('todo_changed() RETURNS trigger', 'RETURN NEW;', 'STABLE'),
    'function todo_changed()',
  ],
  [
    'another body of todo_removed',
    replaced(
      'todo_removed() RETURNS trigger',
      'RETURN NULL;',
      'SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp',
    ),
    'function todo_removed()',
  ],
  [
    'another body of todo_unseen',
    replaced('todo_unseen(kept pg_snapshot, most integer) RETURNS SETOF integer', 'RETURN;', 'STABLE'),
    UNSEEN,
  ],
  ['todo_unseen without its settings', 'ALTER FUNCTION todo_unseen(pg_snapshot, integer) RESET ALL', UNSEEN],
  [
    'another body of todo_purge',
    "CREATE OR REPLACE FUNCTION todo_purge() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'DELETE FROM todo_tombstones'",
    'function todo_purge()',
  ],
  [
    'a column of ours that becomes a generated one',
    "ALTER TABLE todos DROP done, ADD done boolean NOT NULL GENERATED ALWAYS AS (title = 'x') STORED",
    'column todos.done',
  ],
  [
    'a column of ours that becomes an identity',
    'ALTER TABLE todos ALTER category_id ADD GENERATED ALWAYS AS IDENTITY',
    'column todos.category_id',
  ],
  [
    'todo_removed for its caller',
    'ALTER FUNCTION todo_removed() SECURITY INVOKER',
    'function todo_removed()',
  ],
];

/** Parts of others, as they are named. */
const added: readonly [what: string, sql: string, name: string][] = [
  ['a check', 'ALTER TABLE todos ADD CONSTRAINT low CHECK (id < 1000) NOT VALID', 'constraint low of todos'],
  ['a key', 'ALTER TABLE todos ADD CONSTRAINT once UNIQUE (title)', 'constraint once of todos'],
  ['a unique index', 'CREATE UNIQUE INDEX titles ON todos (title)', 'index titles'],
  [
    'an exclusion',
    'ALTER TABLE todos ADD CONSTRAINT apart EXCLUDE USING hash (title WITH =)',
    'constraint apart of todos',
  ],
  [
    'a foreign key',
    'CREATE TABLE owners (id integer PRIMARY KEY); ALTER TABLE todos ADD CONSTRAINT owned FOREIGN KEY (category_id) REFERENCES owners',
    'constraint owned of todos',
  ],
  [
    'a foreign key to todos',
    'CREATE TABLE notes (todo integer CONSTRAINT noted REFERENCES todos)',
    'constraint noted of notes',
  ],
  [
    'a column that must be given',
    'ALTER TABLE todos ADD of_others integer NOT NULL',
    'column todos.of_others',
  ],
  [
    'a trigger before',
    trigger('todos', 'NEW.title := upper(NEW.title); RETURN NEW;'),
    'trigger other of todos',
  ],
  ['a trigger of keys', trigger('idempotency_keys', 'RETURN NULL;'), 'trigger other of idempotency_keys'],
  [
    'a trigger at the commit',
    trigger('todos', 'RETURN NULL;', 'AFTER DELETE', 'CONSTRAINT TRIGGER'),
    'trigger other of todos',
  ],
  ['a rule', 'CREATE RULE soft AS ON DELETE TO todos DO INSTEAD NOTHING', 'rule soft of todos'],
  [
    'a rule of keys',
    'CREATE RULE none AS ON INSERT TO idempotency_keys DO INSTEAD NOTHING',
    'rule none of idempotency_keys',
  ],
  [
    'a child',
    'CREATE TABLE old () INHERITS (todos)',
    'child old of todos (ALTER TABLE old NO INHERIT todos takes its todos out of the list)',
  ],
];

/** What harms nobody. */
const unnamed: readonly [what: string, sql: string][] = [
  ['a column with a default', 'ALTER TABLE todos ADD of_others integer NOT NULL DEFAULT 1'],
  ['a column that may be null', 'ALTER TABLE todos ADD of_others text'],
  [
    'a generated column of others',
    'ALTER TABLE todos ADD len integer GENERATED ALWAYS AS (char_length(title)) STORED',
  ],
  ['an identity column of others', 'ALTER TABLE todos ADD number integer GENERATED ALWAYS AS IDENTITY'],
  ['ids that may be given', 'ALTER TABLE todos ALTER id SET GENERATED BY DEFAULT'],
  ['an index', 'CREATE INDEX titles ON todos (title)'],
  [
    'a foreign key that goes with its todo',
    'CREATE TABLE notes (todo integer REFERENCES todos ON DELETE CASCADE)',
  ],
  ['a trigger of others that is off', `${trigger('todos')}; ALTER TABLE todos DISABLE TRIGGER other`],
  ['a hardened search path', 'ALTER FUNCTION todo_removed() SET search_path = pg_catalog, public, pg_temp'],
  [
    'a function of another signature',
    "CREATE FUNCTION todo_unseen(text) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
  ],
  [
    'replica identities that others need',
    'ALTER TABLE todos REPLICA IDENTITY FULL; ALTER TABLE categories REPLICA IDENTITY USING INDEX categories_pkey',
  ],
  ['a policy that is not enabled', 'CREATE POLICY none ON todos USING (false)'],
  [
    'storage, statistics and the cache of ids',
    `ALTER TABLE todos ALTER title SET STATISTICS 500, SET (fillfactor = 80); ${sequence('CACHE 20')}`,
  ],
  [
    'names in quotes',
    "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET quote_all_identifiers = on', current_database()); END $$",
  ],
];

describe('check compares a list with a new one', { concurrency: 4 }, () => {
  for (const [what, sql, ...names] of changed) {
    test(`${what}: named`, async () => {
      const url = await server.makeMigrated();
      await server.execute(url, sql);
      assert.deepEqual(
        await server.faults(url),
        names.map((name) => `its ${name} is missing or changed`),
      );
    });
  }

  for (const [what, sql, name] of added) {
    test(`${what} of others: named`, async () => {
      const url = await server.makeMigrated();
      await server.execute(url, sql);
      assert.deepEqual(await server.faults(url), [
        `the ${name} is of others, and may change or refuse what is written`,
      ]);
    });
  }

  for (const [what, sql] of unnamed) {
    test(`${what}: not named`, async () => {
      const url = await server.makeMigrated();
      await server.execute(url, sql);
      assert.deepEqual(await server.faults(url), []);
    });
  }
});

test('what computes a value of a todo, and may fail at that, is named, and is no fault [D11]', async () => {
  const url = await server.makeMigrated();
  await server.execute(
    url,
    `CREATE INDEX plain ON todos (title); CREATE INDEX shares ON todos ((1 / (char_length(title) - 3)));
    CREATE INDEX few ON todos (title) WHERE 1 / (char_length(title) - 4) > 0;
    ALTER TABLE todos ADD len integer GENERATED ALWAYS AS (char_length(title)) STORED`,
  );
  await using operator = await openPostgresMaintenance(url);
  const { facts, faults } = await operator.inspect();
  assert.equal(facts['computed by others'], 'column todos.len, index few, index shares');
  assert.deepEqual(faults, []);
});

test('strings whose backslashes are escapes change nothing of what check finds', async () => {
  const url = await server.makeMigrated();
  await server.setForDatabase(url, 'standard_conforming_strings', 'off');
  assert.deepEqual(await server.faults(url), []);
});

/** What check says of the comparison, and whether it is content. */
async function comparison(url: string): Promise<readonly [unknown, number]> {
  await using operator = await openPostgresMaintenance(url);
  const { facts, faults } = await operator.inspect();
  return [facts.definitions, faults.length];
}

test('the new list is of nobody else, and goes: checks at once, beside a schema that one left behind [D26]', async () => {
  const url = await server.makeMigrated();
  await server.execute(url, 'CREATE SCHEMA todo_service_new');
  const checks = await Promise.all(Array.from({ length: 4 }, () => comparison(url)));
  assert.deepEqual(checks, Array(4).fill(['compared', 0]));
  assert.deepEqual(await server.execute(url, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'todo%'"), [
    { nspname: 'todo_service_new' },
  ]);
});

test('a role that may not make a schema compares nothing, and the server says why', async () => {
  const { url, own } = await makeServing(server);
  await server.execute(url, 'ALTER TABLE todos DROP CONSTRAINT todos_title_check');
  assert.deepEqual(await comparison(own), [
    `not compared: permission denied for database ${new URL(url).pathname.slice(1)}`,
    0,
  ]);
});

test('a comparison that fails otherwise is a fault with the reason of the server', async () => {
  const url = await server.makeMigrated();
  await server.execute(
    url,
    `CREATE FUNCTION refuses() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no tables today'; END $$;
    CREATE EVENT TRIGGER refuses ON ddl_command_start WHEN tag IN ('CREATE TABLE') EXECUTE FUNCTION refuses()`,
  );
  assert.deepEqual(await server.faults(url), [
    'its definitions were not compared: no tables today (PL/pgSQL function public.refuses() line 1 at RAISE)',
  ]);
});

test('tombstones that are not purged: named by check with the right that is missing, while instances start and serve', async () => {
  const { url, role, own } = await makeServing(server);
  await server.execute(url, 'REVOKE EXECUTE ON FUNCTION todo_purge() FROM PUBLIC');
  await using _store = await openPatient(own, { migrate: false });
  assert.deepEqual(await server.faults(own), [
    `tombstones are not purged: its role lacks rights: GRANT EXECUTE ON FUNCTION todo_purge() TO ${role}`,
  ]);
  await server.execute(url, 'DROP FUNCTION todo_purge()');
  await using _again = await openPatient(own, { migrate: false });
  assert.deepEqual(await server.faults(own), [
    'tombstones are not purged: its function todo_purge() is missing',
  ]);
});

test('a start that is refused for a right proposes the one to purge too', async () => {
  const { url, role, own } = await makeServing(server);
  await server.execute(url, 'REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC');
  await assert.rejects(openPatient(own, { migrate: false }), {
    message: new RegExp(
      `: its role lacks rights: GRANT EXECUTE ON FUNCTION todo_unseen\\(pg_snapshot,integer\\) TO ${role}; GRANT EXECUTE ON FUNCTION todo_purge\\(\\) TO ${role}$`,
    ),
  });
});
