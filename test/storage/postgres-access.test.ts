import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { asNotUsable } from '../../src/lib/errors.ts';
import { OperatorError } from '../../src/lib/operator-error.ts';
import { addressOf } from '../../src/storage/postgres/address.ts';
import { Cluster } from '../../src/storage/postgres/cluster.ts';
import { openPostgresMaintenance } from '../../src/storage/postgres/maintenance.ts';
import { readPasswordFile } from '../../src/storage/settings.ts';
import { canaries } from '../canaries/canaries.ts';
import { runCommand } from '../support/run-command.ts';
import { runProgram } from '../support/start.ts';
import { moveThereAndBack } from './moving.ts';
import { newPath } from './new-files.ts';
import { missing, startPgBouncer, startPgpool } from './poolers.ts';
import { migratePostgres, openPatient, openPool, openPostgresStore } from './postgres-pool.ts';
import { atPort, PASSWORD, PostgresServer } from './postgres-server.ts';
import { reach, switchOnTls } from './postgres-tls.ts';
import { serve } from './served.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import { addedTo, found, listed, newTodo, replacement } from './todos.ts';
import { startWriters } from './writers.ts';

const server = await PostgresServer.startForAll();

/** Whether the connections of the service use TLS: one value when all do the same. */
async function encrypted(url: string): Promise<readonly unknown[]> {
  const sql = `SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
    WHERE datname = current_database() AND application_name = 'todo-service'`;
  return (await server.execute(url, sql)).map(({ ssl }) => ssl);
}

test('a server without TLS is refused', async () => {
  const url = reach(await server.makeDatabase(), 'localhost', 'verify-full', 'right-root.pem');
  await assert.rejects(openPostgresStore(url, { patienceMs: 0 }), {
    name: 'OperatorError',
    message: /: The server does not support SSL connections$/,
  });
});

describe('a server with TLS', () => {
  before(() => switchOnTls(server));

  test('with verify-full and the right root certificate every connection is encrypted', async () => {
    const url = await server.makeDatabase();
    await using store = await openPatient(reach(url, 'localhost', 'verify-full', 'right-root.pem'));
    await addedTo(store, 'a');
    assert.equal((await listed(store)).length, 1);
    assert.deepEqual(await encrypted(url), [true]);
  });

  for (const mode of ['disable', undefined]) {
    test(`with ${mode ?? 'no mode'} no connection is encrypted, whatever the server offers`, async () => {
      const url = await server.makeDatabase();
      await using store = await openPatient(reach(url, 'localhost', mode));
      await addedTo(store, 'a');
      assert.deepEqual(await encrypted(url), [false]);
    });
  }

  test('what is given up is cancelled over TLS, too', async () => {
    const url = await server.makeDatabase();
    await using proxy = await startTcpProxy(Number(new URL(url).port));
    const reached = reach(proxy.through(url), 'localhost', 'verify-full', 'right-root.pem');
    await using pool = openPool(reached, { answerMs: 500 });
    await assert.rejects(pool.read({ text: 'SELECT pg_sleep(600)' }), /no answer in 500 ms/);
    while ((await server.backends(url)).length > 0) await sleep(10);
    const asked = proxy.firsts.map((first) => first.toString('hex'));
    assert.ok(asked.length >= 2, 'one connection for the statement, one for the request to cancel it');
    assert.deepEqual([...new Set(asked)], ['0000000804d2162f'], 'each asks for TLS before it says anything');
  });

  const refused: readonly [why: string, host: string, root: string | undefined, message: RegExp][] = [
    [
      'another root certificate',
      'localhost',
      'wrong-root.pem',
      /unable to verify the first certificate: name its CA in "sslrootcert"$/,
    ],
    [
      'the roots of the machine alone',
      'localhost',
      undefined,
      /unable to verify the first certificate: name its CA in "sslrootcert"$/,
    ],
    [
      'a name that it is not for',
      '127.0.0.1',
      'right-root.pem',
      /IP: 127\.0\.0\.1 is not in the cert's list/,
    ],
    [
      'a missing root certificate',
      'localhost',
      'no-root.pem',
      /^Cannot open the database: "sslrootcert" must name a file in PEM, received a name: ENOENT$/,
    ],
  ];

  for (const [why, host, root, message] of refused) {
    test(`with verify-full and ${why}, one line says so, without the password`, async () => {
      const url = reach(server.url.replace(`:${PASSWORD}@`, ':secret@'), host, 'verify-full', root);
      await assert.rejects(openPostgresStore(url, { patienceMs: 0 }), (error) => {
        assert.ok(error instanceof OperatorError);
        // A service is started again: exit code 69.
        assert.equal(error.reason, 'unavailable');
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret|\n/);
        return true;
      });
    });
  }

  test('migrate ends with 78 for an unknown authority or a wrong name of every host, other commands with 69', async () => {
    const url = await server.makeMigrated();
    const { port } = new URL(url);
    const beside = (wrong: string, host: string) => wrong.replace(/@[^/]+/, (hosts) => `${hosts},${host}`);
    const wrongRoot = reach(url, 'localhost', 'verify-full', 'wrong-root.pem');
    const machine = reach(url, 'localhost', 'verify-full');
    const wrongName = reach(url, '127.0.0.1', 'verify-full', 'right-root.pem');
    for (const [database, code] of [
      [wrongRoot, 78],
      [machine, 78],
      [wrongName, 78],
      [beside(wrongRoot, `127.0.0.1:${port}`), 78],
      [beside(wrongRoot, '127.0.0.1:1'), 69],
      [reach(url, 'localhost', 'verify-full', 'right-root.pem').replace(port, '1'), 69],
    ] as const) {
      const { code: received, stderr } = await runCommand(['migrate'], { env: { TODO_DATABASE: database } });
      assert.match(stderr, /^Cannot migrate: Cannot open the database "[^\n]*\n$/);
      assert.equal(received, code, stderr);
    }
    const { code, stderr } = await runCommand(['check'], { env: { TODO_DATABASE: wrongRoot } });
    assert.equal(code, 69, stderr);
  });
});

const NEXT = 'canary-next-pässword-77\n';
canaries.keepSecret(NEXT.trim());

/** A database whose owner's password stands in a file, and not in the connection string. */
async function withPasswordFile(content = `${PASSWORD}\n`) {
  const { owner, url } = await server.makeOwnedDatabase();
  const path = newPath('password');
  await writeFile(path, content);
  const bare = url.replace(`:${PASSWORD}@`, '@');
  // Whoever looks on has a password that stays.
  const watched = url.replace(owner, 'postgres');
  return { owner, watched, bare, path, env: { TODO_DATABASE: bare, TODO_DATABASE_PASSWORD_FILE: path } };
}

const alter = (owner: string, password: string) =>
  server.execute(server.url, `ALTER ROLE ${owner} PASSWORD '${password}'`);

for (const [what, content, password, ...more] of [
  ['the password alone', PASSWORD, PASSWORD, ['categories', 'add', 'Garden'], ['export']],
  ['a final line break', `${PASSWORD}\n`, PASSWORD],
  ['a final line break of Windows', `${PASSWORD}\r\n`, PASSWORD],
  ['a line break of the password, and a final one', `${NEXT}\n`, NEXT],
] as const) {
  test(`commands for operators take the password of a file with ${what}`, async () => {
    const { owner, env } = await withPasswordFile(content);
    await alter(owner, password);
    for (const command of [['migrate'], ...more]) {
      // It is the environment of the process that names the file.
      const { code, stderr } = await runProgram(command, { env });
      assert.deepEqual({ command, code, stderr }, { command, code: 0, stderr: '' });
    }
  });
}

test('a command without a password says that the server asks for one, and where it may stand', async () => {
  const { bare } = await withPasswordFile();
  const { code, stderr } = await runCommand(['check'], { env: { TODO_DATABASE: bare } });
  assert.equal(code, 69);
  assert.match(stderr, /: it asks for a password: TODO_DATABASE_PASSWORD_FILE names a file with one\n$/);
});

test('a password changes without a restart: known connections stay, new ones have the new text', async () => {
  const { owner, watched, bare, path, env } = await withPasswordFile();
  await using service = await serve(bare, { env });
  const status = async () => (await service.ask('GET', '/todos/1')).status;
  assert.equal(await status(), 404);
  const before = await server.backends(watched);

  await alter(owner, NEXT);
  assert.equal(await status(), 404);
  await writeFile(`${path}.next`, `${NEXT}\n`);
  await rename(`${path}.next`, path);
  assert.equal(await status(), 404);
  const meanwhile = await server.backends(watched);
  assert.deepEqual(
    meanwhile.filter((pid) => !before.includes(pid)),
    [],
  );

  await server.terminate(watched);
  while ((await status()) !== 404) await sleep(50);
  assert.notDeepEqual(await server.backends(watched), before);
});

test('a file that goes under the service is no end: 503 for who needs a new connection, until it is back', async () => {
  const { watched, bare, path, env } = await withPasswordFile();
  await using service = await serve(bare, { env });
  const status = async () => (await service.ask('GET', '/todos/1')).status;
  await rm(path);
  await server.terminate(watched);
  // The first may meet the end of a connection. A line of the log may come after its answer.
  while (!/TODO_DATABASE_PASSWORD_FILE cannot be used: there is no such file/.test(service.stdout()))
    await status().then(() => sleep(50));
  assert.equal(await status(), 503);
  await writeFile(path, PASSWORD);
  while ((await status()) !== 404) await sleep(50);
});

/** How often a file is read until there is a connection or none, when it is written anew after each time. */
async function connectWhile(path: string, bare: string, texts: readonly string[]) {
  const address = addressOf(bare, { TODO_DATABASE_PASSWORD_FILE: path });
  const read = address.config.password;
  assert.ok(typeof read === 'function');
  const given: string[] = [];
  const password = async () => {
    const text = await read();
    given.push(text);
    await writeFile(path, texts[given.length - 1] ?? text);
    return text;
  };
  const cluster = new Cluster({ ...address, config: { ...address.config, password } });
  const outcome = await cluster.open({ statementMs: 1_000, strict: true, withinMs: 60_000 }).then(
    async (connection) => {
      await connection.leave();
      return 'connected';
    },
    (error: Error) => error.message,
  );
  return { outcome, given };
}

test('after 28P01 with a file that has just changed, the new text is tried at once', async () => {
  const { path, bare } = await withPasswordFile('old');
  const { outcome, given } = await connectWhile(path, bare, [`${PASSWORD}\n`]);
  assert.deepEqual({ outcome, given }, { outcome: 'connected', given: ['old', PASSWORD, PASSWORD] });
});

test('after 28P01 the new text is tried once, however often the file changes', async () => {
  const { path, bare } = await withPasswordFile('a');
  const { outcome, given } = await connectWhile(path, bare, ['b', 'c', 'd', 'e', 'f']);
  assert.match(outcome, /^password authentication failed for user "role_\d+"$/);
  assert.deepEqual(given, ['a', 'b', 'c']);
});

test('after 28P01 with a file as it was, nothing is tried again', async () => {
  const { path, bare } = await withPasswordFile('wrong');
  const { outcome, given } = await connectWhile(path, bare, []);
  assert.match(outcome, /^password authentication failed/);
  // Once to send it, once to see whether it has changed.
  assert.deepEqual(given, ['wrong', 'wrong']);
});

test('after 28P01 with a file that has gone meanwhile, that the password was wrong is said', async () => {
  const { bare } = await withPasswordFile();
  const { config, ...address } = addressOf(bare);
  const texts = ['wrong'];
  const password = async () => texts.pop() ?? Promise.reject(new Error('it is gone'));
  const cluster = new Cluster({ ...address, config: { ...config, password } });
  await assert.rejects(cluster.open({ statementMs: 1_000, strict: true, withinMs: 60_000 }), {
    message: /^password authentication failed/,
  });
});

test('of a wrong password in the string, that alone is said', async () => {
  const cluster = new Cluster(addressOf(server.url.replace(PASSWORD, 'wrong')));
  await assert.rejects(cluster.open({ statementMs: 1_000, strict: false, withinMs: 60_000 }), {
    message: 'password authentication failed for user "postgres"',
  });
});

test('after any other refusal nothing is tried again, though the file has changed', async () => {
  const { path, bare } = await withPasswordFile(PASSWORD);
  const nowhere = bare.replace(/\/todos_\d+$/, '/nowhere');
  const { outcome, given } = await connectWhile(path, nowhere, ['another']);
  assert.match(outcome, /^database "nowhere" does not exist$/);
  assert.deepEqual(given, [PASSWORD]);
});

for (const [what, variables, says] of [
  [
    'a password in the string',
    { TODO_DATABASE: 'postgres://a:b@127.0.0.1:1/c' },
    'a password in TODO_DATABASE',
  ],
  ['a parameter of it', { TODO_DATABASE: 'postgres://127.0.0.1:1/c?user=a&password=b' }, 'a password in'],
  ['PGPASSWORD', { TODO_DATABASE: 'postgres://a@127.0.0.1:1/c', PGPASSWORD: 'b' }, 'PGPASSWORD'],
] as const) {
  test(`a file beside ${what} is refused: exit code 78`, async () => {
    const path = newPath('password');
    await writeFile(path, PASSWORD);
    const env = { ...variables, TODO_DATABASE_PASSWORD_FILE: path };
    const { code, stderr } = await runCommand(['check'], { env });
    assert.equal(code, 78, stderr);
    assert.ok(stderr.includes(`TODO_DATABASE_PASSWORD_FILE must not be set beside ${says}`), stderr);
  });
}

for (const [what, make, says] of [
  ['is missing', async () => {}, 'there is no such file'],
  ['is a folder', (path: string) => mkdir(path), 'it is not a regular file'],
  ['is empty', (path: string) => writeFile(path, '\n'), 'it is empty'],
  ['is huge', (path: string) => writeFile(path, 'x'.repeat(70_000)), 'it is larger than 64 KiB'],
  [
    'has a byte order mark',
    (path: string) => writeFile(path, `\uFEFF${PASSWORD}`),
    'it begins with a byte order mark',
  ],
  ['has a NUL', (path: string) => writeFile(path, `${PASSWORD}\0x`), 'it has a NUL'],
  ['is no UTF-8', (path: string) => writeFile(path, Buffer.from([0x41, 0xff])), 'it is not UTF-8'],
  [
    'is in UTF-16',
    (path: string) => writeFile(path, PASSWORD, 'utf16le'),
    'it is in UTF-16: write it in UTF-8',
  ],
] as const) {
  test(`of a password file that ${what}, that alone is said`, async () => {
    const path = newPath('password');
    await make(path);
    const { message } = await readPasswordFile(path).then(() => assert.fail(), asNotUsable);
    assert.equal(message, says);
  });
}

test('a password file that cannot be used is a fault: exit code 78', async () => {
  const path = newPath('password');
  const env = { TODO_DATABASE: 'postgres://a@127.0.0.1:1/c', TODO_DATABASE_PASSWORD_FILE: path };
  const { code, stderr } = await runCommand(['check'], { env });
  assert.equal(code, 78, stderr);
  assert.match(stderr, /TODO_DATABASE_PASSWORD_FILE must name a file .*there is no such file\n$/);
  assert.ok(!stderr.includes(path), stderr);
});

test('config shows the name of the file, and nothing of its content', async () => {
  const { path, env } = await withPasswordFile();
  const { code, stdout, stderr } = await runCommand(['config', '--environment', 'development'], { env });
  assert.equal(code, 0, stderr);
  const row = stdout.split('\n').find((line) => line.startsWith('TODO_DATABASE_PASSWORD_FILE '));
  assert.deepEqual(row?.split(/ {2,}/), ['TODO_DATABASE_PASSWORD_FILE', path, 'variable']);
  assert.ok(!stdout.includes(PASSWORD));
});

const NEEDED = ["statement_timeout = '1200ms'", "client_connection_check_interval = '2000ms'"];

/** A database whose role brings settings, behind a PgBouncer with more lines of configuration. */
async function pooled(settings: readonly string[] = NEEDED, ...lines: readonly string[]) {
  const { owner, url: direct } = await server.makeOwnedDatabase();
  for (const setting of settings) await server.execute(server.url, `ALTER ROLE ${owner} SET ${setting}`);
  const bouncer = await startPgBouncer(server, [owner, 'postgres'], lines);
  const url = atPort(direct, bouncer.port);
  return { owner, direct, url, [Symbol.asyncDispose]: () => bouncer[Symbol.asyncDispose]() };
}

test('titles are stored in UTF8, whatever encoding the role, PGOPTIONS or the string brings [D25]', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await server.execute(server.url, `ALTER ROLE ${owner} SET client_encoding = 'LATIN1'`);
  const title = '€é'.repeat(50);
  for (const reached of [url, `${url}?options=-c%20client_encoding%3DLATIN1`]) {
    await using store = await openPatient(reached);
    const { id } = await addedTo(store, title);
    assert.equal((await found(store, id))?.title, title);
    assert.equal((await listed(store)).at(-1)?.title, title);
  }
  const stored = await server.execute(url.replace(owner, 'postgres'), 'SELECT title FROM todos');
  assert.deepEqual(stored, [{ title }, { title }]);
});

test('connect_timeout ends a try to connect, for a server that takes a connection and says nothing [D25]', async () => {
  const silent = createServer();
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const port = (silent.address() as AddressInfo).port;
  const cluster = new Cluster(addressOf(atPort(`${server.url}?connect_timeout=1`, port)));
  await assert.rejects(
    cluster.open({ statementMs: 1_000, strict: false, withinMs: 600_000 }),
    /^NoServer: timeout expired$/,
  );
  silent.close();
});

describe('PgBouncer in transaction mode', { skip: missing('pgbouncer') }, () => {
  for (const [what, settings, wanted, ...lines] of [
    ['nothing', [], NEEDED],
    [
      'nothing, where those of a start are ignored',
      [],
      NEEDED,
      'ignore_startup_parameters = options, statement_timeout',
    ],
    [
      'a looser limit than that of the service',
      ["statement_timeout = '2s'", "client_connection_check_interval = '1s'"],
      ["statement_timeout = '1200ms'"],
    ],
    // One of them says that a commit is not replicated.
    ['no warnings', [...NEEDED, 'client_min_messages = error'], ['client_min_messages = warning']],
    ['a limit for locks', [...NEEDED, "lock_timeout = '1s'"], ['lock_timeout = 0']],
    ['an end of idle sessions', [...NEEDED, "idle_session_timeout = '1min'"], ['idle_session_timeout = 0']],
  ] as const) {
    test(`a start is refused while the role brings ${what}, with the settings that it must bring`, async () => {
      await using role = await pooled(settings, ...lines);
      const alter = wanted.map((setting) => `ALTER ROLE ${role.owner} SET ${setting}`).join('; ');
      await assert.rejects(openPostgresStore(role.url, { patienceMs: 0 }), (error: Error) => {
        assert.equal(error.name, 'OperatorError');
        const reason = `: settings cannot be made through the pooler, so its role must bring them: ${alter}`;
        assert.ok(error.message.endsWith(reason), error.message);
        return true;
      });
    });
  }

  test('todos are written, read and listed by more clients than it has connections', async () => {
    await using role = await pooled();
    await using store = await openPatient(role.url);
    await using there = await openPatient(role.url);
    const { ledger, faults } = startWriters([store, there]);
    while (ledger.acknowledged < 300) await listed(there);
    assert.deepEqual(await faults(), []);
    const { id } = await addedTo(store, 'a');
    assert.equal((await found(there, id))?.title, 'a');
    await store.check();
  });

  test('an import and an export are one transaction each [E1; E2]', async () => {
    await using role = await pooled();
    await moveThereAndBack(11, newPath(), role.url);
  });

  test('a statement that is given up is cancelled at the server', async () => {
    await using role = await pooled(["statement_timeout = '10min'", ...NEEDED.slice(1)]);
    await using pool = openPool(role.url, { answerMs: 500 });
    await assert.rejects(pool.read({ text: 'SELECT pg_sleep(600)' }), /no answer in 500 ms/);
    const asleep =
      "SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND state = 'active' AND pid <> pg_backend_pid()";
    while ((await server.execute(role.direct, asleep)).length > 0);
  });

  test('a pool_mode that ends each transaction with its first statement is refused', async () => {
    await using role = await pooled(NEEDED, 'pool_mode = statement');
    await migratePostgres(role.direct);
    await assert.rejects(openPostgresStore(role.url, { patienceMs: 0 }), {
      name: 'OperatorError',
      message:
        /: its pooler must keep a transaction on one connection, as PgBouncer does with "pool_mode = transaction": transaction blocks not allowed in statement pooling mode$/,
    });
  });

  test('a database that is made read-only gets no write after KILL and RESUME on the console, until both are said again', async () => {
    await using role = await pooled(NEEDED, 'admin_users = postgres');
    await using store = await openPatient(role.url);
    const { port, pathname } = new URL(role.url);
    const console = new URL('/pgbouncer', atPort(server.url, Number(port))).href;
    const setReadOnly = async (value?: 'on') => {
      await server.setForDatabase(role.direct, 'default_transaction_read_only', value);
      for (const word of ['KILL', 'RESUME']) await server.execute(console, `${word} ${pathname.slice(1)}`);
    };
    const isMade = () => store.add(newTodo('a', 1)).then(Boolean, () => false);
    assert.equal(await isMade(), true);
    await setReadOnly('on');
    assert.deepEqual([await isMade(), await isMade()], [false, false]);
    await setReadOnly();
    while (!(await isMade()));
    assert.equal((await listed(store)).length, 2);
  });

  test('where it goes from between, the settings of the service hold again from the second try on', async () => {
    await using role = await pooled([]);
    await using proxy = await startTcpProxy(Number(new URL(role.url).port));
    const cluster = new Cluster(addressOf(proxy.through(role.direct)));
    const isPooled = async (strict: boolean) => {
      const connection = await cluster.open({ statementMs: 1_200, strict, withinMs: 60_000 });
      await connection.leave();
      return connection.pooled;
    };
    assert.equal(await isPooled(false), true);
    proxy.target = server.port;
    await assert.rejects(isPooled(true), /its role must bring them/);
    assert.equal(await isPooled(true), false);
  });

  test('operators migrate, look and add through it', async () => {
    await using role = await pooled([]);
    await migratePostgres(role.url);
    await using operator = await openPostgresMaintenance(role.url);
    await operator.addCategory('Garden');
    assert.equal((await operator.listCategories()).length, 3);
    assert.equal((await operator.inspect()).facts.todos, 0);
  });
});

describe('pgpool-II before a standby that is behind', { skip: missing('pgpool') }, () => {
  /** The address of a database by pgpool-II. The standby applies nothing more. */
  async function balanced() {
    const parts = new AsyncDisposableStack();
    const { owner, url } = await server.makeOwnedDatabase();
    for (const setting of NEEDED) await server.execute(server.url, `ALTER ROLE ${owner} SET ${setting}`);
    const standby = parts.use(await server.startStandby());
    await standby.execute(standby.url, 'SELECT pg_wal_replay_pause()');
    const pgpool = parts.use(await startPgpool(server, standby));
    return { url: atPort(url, pgpool.port), [Symbol.asyncDispose]: () => parts.disposeAsync() };
  }

  test('no start and no answer depends on the standby, neither of a todo nor of the list [D14]', async () => {
    await using through = await balanced();
    await using store = await openPatient(through.url);
    for (let round = 1; round <= 10; round += 1) {
      const { id } = await addedTo(store, 'a');
      assert.equal((await found(store, id))?.title, 'a');
      await store.replace(id, replacement('b', true, 1));
      assert.equal((await found(store, id))?.title, 'b');
      assert.equal((await listed(store)).length, round);
    }
    await using fresh = await openPatient(through.url);
    assert.equal((await listed(fresh)).length, 10);
    await store.check();
  });

  test('an import and an export through it are one transaction each [E1; E2]', async () => {
    await using through = await balanced();
    await moveThereAndBack(11, newPath(), through.url);
  });

  test('a connection whose plain reads go to the standby is refused, with the sentence that names the balancer [D14]', async () => {
    await using through = await balanced();
    await using proxy = await startTcpProxy(Number(new URL(through.url).port));
    proxy.edit = (sent) => Buffer.from(sent.toString('latin1').replaceAll(/\/\*.*?\*\//g, blank), 'latin1');
    await assert.rejects(openPatient(proxy.through(through.url), { patienceMs: 0 }), {
      name: 'OperatorError',
      message: /: it is a standby, which takes no writes: behind a load balancer, switch load balancing off$/,
    });
  });
});

test('the options of the connection string hold beside the settings of the service [D25]', async () => {
  await using pool = openPool(`${server.url}?options=-c%20work_mem%3D7MB`, { statementMs: 1_200 });
  const text = "SELECT current_setting('work_mem') AS memory, current_setting('statement_timeout') AS limit";
  assert.deepEqual(await pool.read({ text }), [{ memory: '7MB', limit: '1200ms' }]);
});

/** Nothing that is as long. */
const blank = (comment: string): string => ' '.repeat(comment.length);

for (const [prepare, count] of [
  [true, 1],
  [false, 0],
] as const) {
  test(`without a pooler, ${count} statements with a name stay prepared when that is ${prepare ? 'left open' : 'switched off'}`, async () => {
    await using pool = openPool(server.url, { prepare });
    await pool.read({ name: 'look', text: 'SELECT 1' });
    const [prepared] = await pool.read({ text: 'SELECT count(*)::int AS count FROM pg_prepared_statements' });
    assert.equal(prepared?.count, count);
  });
}
