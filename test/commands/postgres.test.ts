import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../start.ts';
import { PASSWORD, PostgresServer } from '../storage/postgres-server.ts';
import { SCHEMA_VERSION } from '../storage/todos.ts';
import { post, serve, titles } from './served.ts';
import { describeCommands, type Engine, nextProgram } from './suite.ts';

const server = await PostgresServer.start('fsync=on');
after(() => server[Symbol.asyncDispose]());

const engine: Engine = {
  make: () => server.makeDatabase(),
  schemaVersion: SCHEMA_VERSION.postgres,
  migrations: 'src/store/postgres/migrations',
  nameOf: (database) => database.replace(`postgres:${PASSWORD}@`, ''),
};
describeCommands('PostgreSQL', engine);

test('serve --no-migrate refuses an older schema with 69 and names the command; after it, it serves', async () => {
  const database = await server.makeDatabase();
  await assert.rejects(
    serve(database, { args: ['--no-migrate'] }),
    new RegExp(
      `code 69[^]*its schema must be version ${engine.schemaVersion}, received 0: run "todo-service migrate" first\n`,
    ),
  );
  await runProgram(['migrate'], { env: { TODO_DATABASE: database } });
  await using _service = await serve(database, { args: ['--no-migrate'] });
});

test('an instance that may not migrate goes on, and starts again, after a migration that names its program', async () => {
  const database = await server.makeDatabase();
  await using next = await nextProgram(
    engine,
    `-- Oldest program: ${engine.schemaVersion}\nALTER TABLE todos ADD COLUMN next text`,
  );
  await runProgram(['migrate', '--database', database]);
  const running = { args: ['--no-migrate'] };
  await using old = await serve(database, running);
  await runProgram(['migrate', '--database', database], { checkout: next.path });
  await post(old, { title: 'by the one that went on' });
  await using again = await serve(database, running);
  await post(again, { title: 'by the one that started again' });
  await using rolledOut = await serve(database, { ...running, checkout: next.path });
  for (const service of [old, again, rolledOut])
    assert.deepEqual(await titles(service), ['by the one that went on', 'by the one that started again']);
});

test('a backup names the call of pg_dump without the password, and ends with 78', async () => {
  const database = await server.makeDatabase();
  const { hostname, port, pathname } = new URL(database);
  const { code, stdout, stderr } = await runProgram(['backup', 'copy'], { env: { TODO_DATABASE: database } });
  assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
  assert.equal(
    stderr.split('\n')[1],
    `  pg_dump --format=custom --host=${hostname} --port=${port} --username=postgres --dbname=${pathname.slice(1)} --file=copy`,
  );
});

test('check says that a server does not sync: 1', async () => {
  await using careless = await PostgresServer.start();
  const database = await careless.makeDatabase();
  await runProgram(['migrate', '--database', database]);
  const { code, stdout } = await runProgram(['check', '--database', database]);
  assert.equal(code, 1);
  assert.match(
    stdout,
    /\nfsync +off\n[\s\S]*\nFAULT {2}"fsync" must be "on", received "off": a power cut may lose answered writes\n$/,
  );
});

test('a user who may not write gets one line that grants the right, and 69', async () => {
  const database = await server.makeDatabase();
  await runProgram(['migrate', '--database', database]);
  await server.execute(
    database,
    `CREATE ROLE reader LOGIN PASSWORD '${PASSWORD}'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader`,
  );
  const reader = database.replace(`postgres:${PASSWORD}@`, `reader:${PASSWORD}@`);
  assert.equal((await runProgram(['categories', 'list', '--database', reader])).code, 0);
  for (const [right, action, ...words] of [
    ['INSERT', 'add', 'Garden'],
    ['UPDATE', 'rename', '1', 'Home'],
  ] as const) {
    const command = ['categories', action, ...words, '--database', reader];
    const { code, stderr } = await runProgram(command);
    assert.equal(code, 69);
    const grant = `GRANT ${right} ON categories TO reader`;
    const fault = `permission denied for table categories: its role lacks rights: ${grant}`;
    assert.equal(stderr, `Cannot ${action} the category: ${fault}\n`);
    await server.execute(database, grant);
    assert.equal((await runProgram(command)).code, 0);
  }
});

test('D9 · a server that is not there is one line and 69, without the password', async () => {
  const env = { TODO_DATABASE: 'postgres://todo:secret@127.0.0.1:1/todos' };
  for (const words of [['migrate'], ['check'], ['categories', 'list']]) {
    const { code, stderr } = await runProgram(words, { env });
    assert.equal(code, 69);
    assert.match(stderr, /^Cannot [^\n]*"postgres:\/\/127\.0\.0\.1:1\/todos": connect ECONNREFUSED[^\n]*\n$/);
    assert.doesNotMatch(stderr, /secret/);
  }
});
