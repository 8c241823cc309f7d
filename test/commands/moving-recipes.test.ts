import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { MIGRATIONS } from '../../src/storage/sqlite/schema.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { serve } from '../storage/served.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runCommand } from '../support/run-command.ts';
import { engines, server } from './engines.ts';
import { page, recipe, sh } from './recipes.ts';

const MOVING = await page('moving-data.md');
const BACKUPS = await page('backup-and-restore.md');

const ADD = "INSERT INTO todos (title, category_id) VALUES ('a', 1)";

test('the recipe for a file that another program writes is right word for word', async () => {
  await using folder = await temporaryFolder();
  const lines = MOVING.slice(MOVING.lastIndexOf('```sh\n') + 6, MOVING.lastIndexOf('```'));
  const database = `sqlite:${join(folder.path, 'todos.db')}`;
  const { code, stderr } = await sh(folder.path, lines, { env: { TODO_DATABASE: database } });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const { stdout } = await runCommand(['categories', 'list', '--database', database]);
  assert.equal(stdout, '1\tGarden\n');
});

/** What the page has for SQLite and for PostgreSQL. */
const STATEMENTS = [
  Array.from(
    recipe(BACKUPS, 'One todo back', /sqlite3/).matchAll(/"((?:PRAGMA|ATTACH|INSERT) [^"]+)"/g),
    ([, statement]) => statement,
  ).join(';'),
  /<<'END'\n([\s\S]+?)\nEND\n/.exec(recipe(BACKUPS, 'One todo back', /psql/))?.[1],
];

for (const [at, [name, { make, execute }]] of Object.entries(engines).entries())
  test(`one todo is put back into ${name} beside the service by the INSERT of the page: its tag is as before, the next id too`, async () => {
    await using folder = await temporaryFolder();
    const backup = join(folder.path, 'backup');
    const sql = STATEMENTS[at]?.replace('/backup/todos-2026-11-21.db', backup);
    const database = await make();
    await using service = await serve(database);
    await execute(database, Array.from({ length: 18 }, () => ADD).join(';'));
    await service.ask('PUT', '/todos/17', { title: 'Water the plants', done: true, categoryId: 1 });
    const tags = async () => {
      const replies = await Promise.all(['/todos/17', '/todos'].map((path) => service.ask('GET', path)));
      return replies.map(({ status, headers }) => [status, headers.get('etag')]);
    };
    const before = await tags();
    await runCommand(['backup', backup, '--database', database]);
    await service.ask('DELETE', '/todos/17');
    assert.notDeepEqual(await tags(), before);
    await execute(database, sql ?? assert.fail('no SQL'));
    // SQLite: within 100 ms.
    while (JSON.stringify(await tags()) !== JSON.stringify(before)) await sleep(20);
    assert.match(
      (await service.ask('POST', '/todos', { title: 'a', categoryId: 1 })).headers.get('location') ?? '',
      /\/19$/,
    );
  });

for (const deleted of [['', '-wal', '-shm'], [''], ['-wal']]) {
  const names = deleted.map((suffix) => `todos.db${suffix}`);
  test(`what incidents.md says saves every answered write when ${names} is deleted`, {
    skip: process.platform !== 'linux' && 'only Linux has /proc',
  }, async () => {
    await using folder = await temporaryFolder();
    const database = join(folder.path, 'todos.db');
    await using service = await serve(`sqlite:${database}`);
    await service.post({ title: 'kept in the log' });
    for (const name of names) await rm(join(folder.path, name));
    const lines = recipe(await page('incidents.md'), 'When the SQLite file is gone', /proc/);
    const { code, stdout, stderr } = await sh(folder.path, lines, { env: { PID: String(service.pid) } });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /todos +1\ndefinitions +compared\nAll is well\.\n$/);
  });
}

/** How the highest id is set too high: by SQL that does what restore does, or by a row, which is deleted afterwards. */
const TOO_HIGH = {
  SQLite: [
    "UPDATE sqlite_sequence SET seq = 2147483647 WHERE name = 'todos'",
    "INSERT INTO todos (id, title, category_id) VALUES (2147483647, 'a', 1)",
  ],
  PostgreSQL: [
    "SELECT setval(pg_get_serial_sequence('todos', 'id'), 2147483647)",
    "INSERT INTO todos (id, title, category_id) OVERRIDING SYSTEM VALUE VALUES (2147483647, 'a', 1)",
  ],
};

for (const [at, name] of (['SQLite', 'PostgreSQL'] as const).entries())
  for (const [how, tooHigh] of TOO_HIGH[name].entries())
    test(`where ${how === 0 ? 'a restore' : 'a row'} has used up all ids of ${name}, creates are 500 until incidents.md has set the highest`, async () => {
      const { make, execute, check } = engines[name];
      const section = (await page('incidents.md'))
        .split(/^## /m)
        .find((each) => each.startsWith('When all ids'));
      const sql = [...(section ?? '').matchAll(/"((?:UPDATE|SELECT) [^"]+)"/g)][at]?.[1];
      const database = await make();
      {
        await using service = await serve(database);
        await service.post();
        await execute(database, tooHigh);
        if (how === 1) assert.equal((await service.ask('DELETE', '/todos/2147483647')).status, 204);
      }
      // A start sets the sequence of PostgreSQL above every id.
      await using service = await serve(database);
      await service.post({ status: 500 });
      const crash = JSON.stringify(await service.logged('crash'));
      assert.match(crash, /every id up to 2147483647 has been given out/);
      assert.equal((await service.list()).length, 1);
      await execute(database, sql ?? assert.fail('no SQL'));
      const { headers } = await service.ask('POST', '/todos', { title: 'a', categoryId: 1 });
      assert.match(headers.get('location') ?? '', /\/4712$/);
      if (how === 0) assert.match(await check(database), /All is well/);
    });

/** What leaves out the foreign key, as the shell of SQLite does by itself. */
const PAST_KEYS = {
  SQLite: 'PRAGMA foreign_keys = OFF',
  PostgreSQL: 'SET session_replication_role = replica',
};

for (const [at, name] of (['SQLite', 'PostgreSQL'] as const).entries())
  test(`a category that was deleted from ${name} by hand is put back by incidents.md, and check names its todos until then [E1]`, async () => {
    const { make, execute, check } = engines[name];
    const database = await make();
    await using service = await serve(database);
    await service.post({ categoryId: 2 });
    await execute(database, `${PAST_KEYS[name]}; DELETE FROM categories WHERE id = 2`);
    await service.post({ categoryId: 2, status: 400 });
    const checked = await runCommand(['check', '--database', database]);
    const fault = 'FAULT  row 1 of todos: "category_id" must be the id of a category, received 2';
    assert.ok(checked.stdout.split('\n').includes(fault), checked.stdout);
    const section = (await page('incidents.md')).split(/^## /m).find((each) => each.startsWith('When rows'));
    const sql = [...(section ?? '').matchAll(/"(INSERT [^"]+)"/g)][at]?.[1];
    await execute(database, sql ?? assert.fail('no SQL'));
    await service.post({ categoryId: 2 });
    assert.match(await check(database), /All is well/);
  });

test('the statement of incidents.md says who holds a lock, who waits, and that a prepared transaction holds one', async () => {
  await using other = await PostgresServer.start('max_prepared_transactions=1');
  const database = await other.makeMigrated();
  const [, statement = ''] = /```sql\n([\s\S]+?;)\n/.exec(await page('incidents.md')) ?? [];
  const pidOf = async (session: Client) =>
    Number((await session.query('SELECT pg_backend_pid() AS pid')).rows[0]?.pid);
  const held = () => other.execute(database, statement);

  await using holder = await other.session(database, 'BEGIN; LOCK TABLE todos IN ACCESS EXCLUSIVE MODE');
  await using waiter = await other.session(database);
  const [first, second] = [await pidOf(holder), await pidOf(waiter)];
  const reading = waiter.query('SELECT FROM todos');
  await other.somebodyWaits(database);
  assert.deepEqual(
    (await held()).map(({ pid, waits_for }) => [pid, waits_for]),
    [
      [first, []],
      [second, [first]],
    ],
  );
  await holder.query("PREPARE TRANSACTION 'forgotten'");
  const waits = async () => (await held()).map(({ waits_for }) => waits_for);
  while (JSON.stringify(await waits()) !== '[[0]]') await sleep(10);
  await other.execute(database, "ROLLBACK PREPARED 'forgotten'");
  await reading;
});

test('what incidents.md asks of the metrics shows what has changed meanwhile', {
  skip: spawnSync('curl', ['--version']).status !== 0 && 'needs curl',
}, async () => {
  await using folder = await temporaryFolder();
  await using service = await serve(await engines.SQLite.make(), { env: { TODO_ADMIN_PORT: '0' } });
  const lines = recipe(await page('incidents.md'), 'When the log has nothing');
  // In the minute of the page, a client without a token asks for the list.
  const programs = { sleep: `exec curl -s -o answer ${service.baseUrl}/todos` };
  const env = { no_proxy: '127.0.0.1' };
  const { code, stdout } = await sh(
    folder.path,
    lines.replaceAll('http://127.0.0.1:9090', service.adminUrl),
    {
      env,
      programs,
    },
  );
  assert.equal(code, 0);
  for (const [name, labels] of [
    ['http_server_request_duration_seconds_count', 'http_response_status_code="401"'],
    ['todo_token_verdicts_total', 'code="credentials-missing"'],
  ])
    assert.match(stdout, new RegExp(`^> ${name}{[^}]*${labels}[^}]*} 1$`, 'm'));
});

const noShell = spawnSync('sqlite3', ['--version']).status !== 0 && 'needs sqlite3';

const NEWEST = MIGRATIONS.version;

for (const [index] of MIGRATIONS.from(0).entries()) {
  const version = NEWEST - index;
  test(`a file that .dump of sqlite3 has made, of schema version ${version}, is refused with the reason, and mended by incidents.md`, {
    skip: noShell,
  }, async () => {
    await using folder = await temporaryFolder();
    const old = join(folder.path, 'old.db');
    const made = MIGRATIONS.from(0).slice(0, version).join('');
    const todos = `INSERT INTO categories (name) VALUES ('Work'); ${ADD}; ${ADD}; DELETE FROM todos WHERE id = 2`;
    engines.SQLite.execute(`sqlite:${old}`, `${made}; ${todos}`);
    await sh(folder.path, 'sqlite3 old.db .dump > todos.sql');

    const [make = '', ...mend] = recipe(await page('incidents.md'), 'When a file comes from')
      .trim()
      .split('\n');
    assert.deepEqual(await sh(folder.path, make), { code: 0, stdout: '', stderr: '' });
    const fault =
      'its application_id is 0, as after ".dump" of sqlite3: docs/incidents.md shows the way back\n';
    const before = await readFile(join(folder.path, 'new.db'));
    for (const words of [['check'], ['migrate'], ['export'], ['serve', '--environment', 'development']]) {
      const { code, stderr } = await runCommand([...words, '--database', `sqlite:${folder.path}/new.db`]);
      assert.equal(code, 65);
      assert.ok(stderr.endsWith(`: ${fault}`), stderr);
    }
    const copy = join(folder.path, 'new.db');
    const restored = await runCommand(['restore', copy, '--database', `sqlite:${folder.path}/x.db`]);
    assert.deepEqual([restored.code, restored.stderr], [65, `Cannot restore: "${copy}": ${fault}`]);
    assert.deepEqual(await readFile(join(folder.path, 'new.db')), before);

    const [set = '', look = ''] = mend;
    const sql = set.replace(`user_version = ${NEWEST}`, `user_version = ${version}`);
    const { code, stderr } = await sh(folder.path, version === NEWEST ? `${sql}\n${look}` : sql);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const back = await sh(folder.path, 'todo-service restore new.db --data-dir .');
    assert.match(back.stdout, /todos 1,/, back.stderr);
    await using service = await serve(`sqlite:${folder.path}/todos.db`);
    assert.equal((await service.list()).length, 1);
    const reply = await service.ask('POST', '/todos', { title: 'a', categoryId: 1 });
    assert.match(reply.headers.get('location') ?? '', /\/3$/);
  });
}

test('what postgresql.md says about ids of lost todos skips 1,000 of them', async () => {
  const url = await server.makeMigrated();
  const sql = /```sql\n(SELECT setval.+)\n```/.exec(await page('postgresql.md'))?.[1];
  await server.execute(url, `${ADD}; ${sql ?? assert.fail('no SQL')}`);
  assert.deepEqual(await server.execute(url, `${ADD} RETURNING id`), [{ id: 1_002 }]);
});
