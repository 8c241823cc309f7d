import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../src/server/config.ts';
import { freePort, listen, temporaryFolder } from '../support/folder.ts';
import { runCommand } from '../support/run-command.ts';
import {
  endOf,
  preloading,
  type Running,
  runProgram,
  start,
  startService,
  untilServing,
} from '../support/start.ts';
import { staysClosedAtSigusr1 } from './sigusr1.ts';

const lines = (text: string) => text.trimEnd().split('\n');

test('all faults of a configuration, which is of production unless told otherwise, are reported together, with exit code 78 [A12]', async () => {
  const { code, stdout, stderr } = await runProgram(['serve', '--port', 'http'], {
    env: { TODO_PROFILE: 'todo', TODO_LOG_LEVEL: 'loud', TODO_DATABASE: 'mysql://root@db/todos' },
  });
  assert.equal(code, 78);
  assert.equal(stdout, '');
  assert.deepEqual(lines(stderr), [
    'Cannot start, the configuration has faults:',
    '  TODO_PROFILE must be one of "shared-list", "error-demo", received "todo"',
    '  --port must be a whole number from 0 to 65535, received "http"',
    '  TODO_LOG_LEVEL must be one of "trace", "debug", "info", "warn", "error", "fatal", "silent", received "loud"',
    ...lines(stderr).slice(4),
  ]);
  assert.match(stderr, /^ {2}TODO_DATABASE must .*, received "mysql:\/\/…@db\/todos"$/m);
  assert.match(stderr, /^ {2}TODO_AUTH_ISSUER must be .*received nothing$/m);
  assert.match(stderr, /^ {2}TODO_AUTH_AUDIENCE must be .*received nothing$/m);
});

test('the settings of PostgreSQL that are none are faults', async () => {
  const env = { TODO_DATABASE_CONNECTIONS: '0', TODO_DATABASE_PREPARE: 'no' };
  await assert.rejects(readConfig({ environment: 'development' }, env), {
    name: 'ConfigFaults',
    faults: [
      'TODO_DATABASE_CONNECTIONS must be a whole number from 1 to 1000, received "0"',
      'TODO_DATABASE_PREPARE must be one of "auto", "false", received "no"',
    ],
  });
});

test('the profile is shared-list unless told otherwise, and error-demo is the only other one [D1]', async () => {
  for (const [profile, args] of [
    ['shared-list', []],
    ['error-demo', ['--profile', 'error-demo']],
    // The later of two wins.
    ['error-demo', ['--profile', 'shared-list', '--profile', 'error-demo']],
  ] as const) {
    const { stdout } = await runCommand(['config', '--environment', 'development', ...args]);
    assert.match(stdout, new RegExp(`^TODO_PROFILE +${profile} `));
  }
  const { stderr } = await runCommand(['config', '--profile', 'both']);
  assert.match(stderr, /--profile must be one of "shared-list", "error-demo", received "both"/);
});

test('the error demo reads no authentication and no database setting [A12]', async () => {
  await using service = await startService({
    profile: 'error-demo',
    env: {
      TODO_DATABASE: 'nonsense',
      TODO_AUTH_SECRET_FILE: '/does/not/exist',
      TODO_AUTH_CLOCK_TOLERANCE: 'x',
    },
  });
  assert.equal((await fetch(`${service.baseUrl}/todos/1`)).status, 200);
});

test('"todo-service --version" of a checkout prints the version', async () => {
  const { code, stdout } = await runProgram(['--version']);
  assert.equal(code, 0);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
});

test('an unknown variable TODO_… gets a warning with the nearest name, and never its value', async () => {
  await using service = await startService({
    profile: 'error-demo',
    env: { TODO_MAX_CONECTIONS: '5', TODO_SERVICE_HOST: '10.0.0.1' },
  });
  const warnings = lines(service.stdout())
    .map((line) => JSON.parse(line))
    .filter(({ level }) => level === 'warn');
  assert.deepEqual(
    warnings.map(({ event, name, nearest, msg }) => ({ event, name, nearest, msg })),
    [
      {
        event: 'unknown-variable',
        name: 'TODO_MAX_CONECTIONS',
        nearest: 'TODO_MAX_CONNECTIONS',
        msg: 'nothing reads the variable "TODO_MAX_CONECTIONS"; "TODO_MAX_CONNECTIONS" may be meant',
      },
    ],
  );
});

test('a start whose variables leave certificates unchecked gets a warning [D27]', async () => {
  const warnings = async (NODE_TLS_REJECT_UNAUTHORIZED: string) => {
    await using service = await startService({
      profile: 'error-demo',
      env: { NODE_TLS_REJECT_UNAUTHORIZED },
    });
    return lines(service.stdout())
      .map((line) => JSON.parse(line))
      .filter(({ level }) => level === 'warn')
      .map(({ event }) => event);
  };
  assert.deepEqual(await warnings('0'), ['certificates-unchecked']);
  assert.deepEqual(await warnings('1'), []);
});

test('development greets with profile, environment, URL, the page for a browser, database and the token command', async () => {
  await using service = await startService({ environment: 'development' });
  const greeting = service.stdout();
  assert.match(greeting, /profile shared-list, development/);
  const { baseUrl } = service;
  assert.ok(greeting.includes(`\n  listening  ${baseUrl}\n  browser    ${baseUrl}/scalar\n`), greeting);
  assert.match(greeting, /database {3}sqlite:.*todos\.db\n/);
  const command = `npm run -s token -- --name ada --role editor --data-dir ${service.dataDir}`;
  // A path with a blank is quoted for the shell.
  assert.ok(greeting.replaceAll("'", '').includes(`  a token    ${command}\n`), greeting);
});

test('development that trusts an issuer with a secret does not greet with a command for tokens of another', async () => {
  const auth = { issuer: 'https://issuer.test', audience: 'todo-service', secret: randomBytes(32) };
  await using service = await startService({ environment: 'development', auth });
  assert.match(service.stdout(), /profile shared-list, development/);
  assert.doesNotMatch(service.stdout(), /a token/);
});

test('development that trusts an issuer with keys of its own says that tokens of npm run token are not accepted', async () => {
  const env = { TODO_AUTH_ISSUER: 'http://127.0.0.1:9', TODO_AUTH_AUDIENCE: 'todo-service' };
  await using service = await startService({ environment: 'development', env });
  const said = 'from http://127.0.0.1:9: those of "npm run -s token" are not accepted';
  assert.ok(service.stdout().includes(`  a token    ${said}\n`), service.stdout());
});

test('development without the package of the reference page does not greet with its address', async () => {
  const without = `import { registerHooks } from 'node:module';
    registerHooks({
      resolve(name, context, next) {
        return next(name.startsWith('@scalar/') ? 'not-installed' : name, context);
      },
    });`;
  await using service = await startService({
    profile: 'error-demo',
    environment: 'development',
    env: preloading(without),
  });
  assert.match(service.stdout(), /there is no reference page: install @scalar/);
  assert.match(service.stdout(), /listening {2}http/);
  assert.doesNotMatch(service.stdout(), /\/scalar\n/);
});

test('production starts with one JSON line, and ends on SIGTERM with exit code 0', async () => {
  await using service = await startService({ profile: 'error-demo' });
  assert.equal(await service.stop(), 0);
  const events = lines(service.stdout()).map((line) => JSON.parse(line));
  assert.deepEqual(
    events.map(({ event }) => event),
    ['started', 'stopping', 'stopped'],
  );
  assert.equal(events[0].url, service.baseUrl);
  assert.deepEqual([events[0].database, events[0].keys], [undefined, undefined]);
  assert.equal(service.stderr(), '');
});

test('SIGUSR1 opens no debugger [D15]', () => staysClosedAtSigusr1((env) => startService({ env })));

test('the line of a start has the database and the source of keys as fields, without words for people', async () => {
  const auth = { issuer: 'https://issuer.example', audience: 'todo-service', secret: randomBytes(32) };
  await using service = await startService({ auth });
  const { database, keys, about } = JSON.parse(lines(service.stdout()).at(-1) ?? '');
  assert.deepEqual(
    { database, keys, about },
    {
      database: `sqlite:${join(service.dataDir, 'todos.db')}`,
      keys: 'HMAC secret of 32 bytes from TODO_AUTH_SECRET_FILE',
      about: undefined,
    },
  );
});

/** Waits until a program has said a text on standard output: all that it has said. */
function hearing({ stdout }: ReturnType<typeof start>): (text: string) => Promise<string> {
  let said = '';
  stdout.on('data', (chunk) => {
    said += chunk;
  });
  return async (text) => {
    while (!said.includes(text)) await once(stdout, 'data');
    return said;
  };
}

/**
 * A start that waits for the file of another service, however long, and that a signal has ended: what it has said, and
 * its end.
 */
async function endWaiting({ dataDir }: Running, code = '') {
  const words = ['serve', '--environment', 'development', '--port', '0', '--data-dir', dataDir];
  const child = start(words, preloading(`performance.now = () => 0; ${code}`));
  const ended = endOf(child);
  const heard = hearing(child);
  await heard('waiting for the database file');
  child.kill('SIGTERM');
  return { child, said: await heard('stopped during the start'), ended };
}

test('a second process says whom it waits for, and a signal ends its wait [D6]', async () => {
  await using first = await startService({ environment: 'development' });
  const { said, ended } = await endWaiting(first);
  assert.match(said, new RegExp(`owner="process ${first.pid} on `));
  assert.deepEqual(await ended, { end: 0, said: '' });
});

test('a start that a signal has ended does not serve, also when it could go on just after', {
  timeout: 120_000,
}, async ({ signal }) => {
  // Longer there than the first service, whose own folder would be removed while the other one opens the file.
  await using data = await temporaryFolder();
  await using first = await startService({ environment: 'development', dataDir: data.path });
  // It ends by itself, not because its last 250 ms are over.
  const lasting = `const { setTimeout } = globalThis;
    globalThis.setTimeout = (call, ms, ...rest) => setTimeout(call, ms === 250 ? 1e9 : ms, ...rest);`;
  const { child, ended } = await endWaiting(first, lasting);
  signal.addEventListener('abort', () => child.kill('SIGKILL'));
  await first.stop();
  assert.equal((await ended).end, 0);
});

test('a start that fails just after a signal has ended it still says why', async () => {
  await using data = await temporaryFolder();
  await using server = createTcpServer();
  const database = `postgres://127.0.0.1:${await listen(server)}/todos`;
  const args = ['serve', '--environment', 'development', '--data-dir', data.path, '--database', database];
  // A process that has stopped ends itself soon: the error below must come before, however busy the machine is.
  const slow = `const { setTimeout } = globalThis;
    globalThis.setTimeout = (call, ms, ...rest) => setTimeout(call, 100 * ms, ...rest);`;
  const child = start(args, preloading(slow));
  const [ended, heard] = [endOf(child), hearing(child)];
  const [socket] = (await once(server, 'connection')) as [Socket];
  child.kill('SIGTERM');
  await heard('stopped during the start');
  // `ErrorResponse`, https://www.postgresql.org/docs/current/protocol-message-formats.html
  const fields = Buffer.from('SFATAL\0C28000\0Mnobody is let in\0\0');
  const head = Buffer.from([0x45, 0, 0, 0, fields.length + 4]);
  socket.resume().end(Buffer.concat([head, fields]));
  assert.match((await ended).said, /^Cannot start: Cannot open the database ".*": nobody is let in\n$/);
});

for (const [variable, settings] of [
  ['TODO_PORT', '--port or TODO_PORT'],
  ['TODO_ADMIN_PORT', 'TODO_ADMIN_PORT'],
] as const) {
  test(`a port in use is one line that names ${settings}, and exit code 69`, async () => {
    await using server = createServer();
    const port = await listen(server);
    const env = { TODO_PORT: '0', [variable]: String(port) };
    const { code, stderr } = await runProgram(['serve', '--profile', 'error-demo'], { env });
    assert.equal(code, 69);
    assert.equal(
      stderr,
      `Cannot start: cannot listen on 127.0.0.1 port ${port}: ` +
        `another program has that port: choose another one with ${settings}\n`,
    );
  });
}

for (const profile of ['shared-list', 'error-demo'] as const) {
  test(`${profile} listens on PORT where neither flag nor variable names a port, and its first lines name PORT [D22]`, async () => {
    await using data = await temporaryFolder();
    const flags = ['--profile', profile, '--environment', 'development', '--data-dir', data.path];
    const env = { PORT: String(await freePort()), TODO_PORT: '', TODO_ADMIN_PORT: String(await freePort()) };
    await using service = await untilServing(start(['serve', ...flags], env));
    assert.equal(service.baseUrl, `http://127.0.0.1:${env.PORT}`);
    assert.match(service.stdout(), /\n {2}listening {2}http:\S+\n {2}port {7}from the variable PORT\n/);
    const healthcheck = await runProgram(['healthcheck'], { env });
    assert.equal(healthcheck.code, 0, healthcheck.stderr);
  });
}

test('the first line of production has portFrom where PORT decides, and only there [D22]', async () => {
  for (const [env, portFrom] of [
    [{ PORT: '0' }, 'PORT'],
    [{ PORT: '1', TODO_PORT: '0' }, undefined],
  ] as const) {
    await using service = await untilServing(start(['serve', '--profile', 'error-demo'], env));
    const started = JSON.parse(service.stdout());
    assert.deepEqual([started.event, started.portFrom], ['started', portFrom]);
  }
});

test('a PORT that is in use is one line that names it, and what beats it [D22]', async () => {
  await using server = createServer();
  const port = await listen(server);
  const env = { PORT: String(port) };
  const { code, stderr } = await runProgram(['serve', '--profile', 'error-demo'], { env });
  assert.equal(code, 69);
  assert.equal(
    stderr,
    `Cannot start: cannot listen on 127.0.0.1 port ${port}: another program has that port: ` +
      'choose another one with --port or TODO_PORT, which beat PORT\n',
  );
});

test('a database that is no database is one line and exit code 65 [D15]', async () => {
  await using data = await temporaryFolder();
  const path = join(data.path, 'letter.txt');
  await writeFile(path, 'Dear reader, this is not a database.\n'.repeat(100));
  const where = ['--data-dir', data.path, '--database', `sqlite:${path}`];
  const { code, stderr } = await runProgram(['serve', '--environment', 'development', ...where]);
  assert.equal(code, 65);
  assert.match(stderr, /^Cannot start: Cannot open the database ".*": .*\n$/);
});
