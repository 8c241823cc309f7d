import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import fc from 'fast-check';
import { readConfig } from '../../src/server/config.ts';
import { closedToOthers, temporaryFolder } from '../support/folder.ts';
import { runCommand } from '../support/run-command.ts';

const ISSUER = { TODO_AUTH_ISSUER: 'https://login.example.org', TODO_AUTH_AUDIENCE: 'todo-service' };

/** The lines of `todo-service config`, by their variables. */
function settingsIn(stdout: string): ReadonlyMap<string, readonly string[]> {
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd().split(/ {2,}/));
  return new Map(lines.map(([name = '', ...cells]) => [name, cells]));
}

test('config prints what is in force, whether it is a flag, a variable or a default, and names what nothing reads', async () => {
  const read = { TODO_PORT: '1', TODO_CACHE_MB: '0008', TODO_ADMIN_HOST: '::1' };
  const env = { ...ISSUER, ...read, TODO_MAX_CONECTIONS: '5' };
  const { code, stdout, stderr } = await runCommand(['config', '--port', '0', '--data-dir', 'lists'], {
    env,
  });
  assert.equal(code, 0);
  const unread = 'Nothing reads the variable "TODO_MAX_CONECTIONS"; "TODO_MAX_CONNECTIONS" may be meant.\n';
  assert.equal(stderr, unread);
  const settings = settingsIn(stdout);
  assert.deepEqual(settings.get('TODO_PORT'), ['0', '--port']);
  assert.deepEqual(settings.get('TODO_CACHE_MB'), ['8', 'variable']);
  assert.deepEqual(settings.get('TODO_LOG_LEVEL'), ['info', 'default']);
  assert.deepEqual(settings.get('TODO_DATABASE'), ['sqlite:lists/todos.db', 'default']);
  assert.deepEqual(settings.get('TODO_AUTH_ROLE_CLAIM'), ['role and roles', 'default']);
  assert.deepEqual(settings.get('TODO_ADMIN_HOST'), ['not used', 'variable']);
  assert.equal(settings.get('OTEL_BSP_SCHEDULE_DELAY'), undefined);
});

test('config prints whole what is never secret: audiences, required claims, the role and the kind of tokens', async () => {
  const env = {
    ...ISSUER,
    TODO_AUTH_AUDIENCE: 'https://todo.example.org/?api#1,api://a@b',
    TODO_AUTH_AUDIENCE_CLAIM: 'https://todo.example.org/aud?x',
    TODO_AUTH_REQUIRED_CLAIMS: 'https://a.example/#b=http://c:d@e.example,!at_hash',
    TODO_AUTH_EDITOR_ROLE: 'https://a:b@roles.example/?editor',
    TODO_AUTH_TOKEN_TYPE: 'at+jwt',
  };
  const { code, stdout } = await runCommand(['config'], { env });
  assert.equal(code, 0);
  const settings = settingsIn(stdout);
  for (const [name, value] of Object.entries(env).filter(([variable]) => variable !== 'TODO_AUTH_ISSUER')) {
    assert.deepEqual(settings.get(name), [value, 'variable']);
  }
});

for (const [what, flags, env, cells] of [
  ['counts alone', [], { PORT: '8080' }, ['8080', 'PORT']],
  ['counts beside an empty TODO_PORT', [], { PORT: '8080', TODO_PORT: '' }, ['8080', 'PORT']],
  ['is beaten by TODO_PORT', [], { PORT: '8080', TODO_PORT: '1' }, ['1', 'variable']],
  ['is beaten by --port', ['--port', '2'], { PORT: '8080' }, ['2', '--port']],
  ['that is wrong is beaten too', ['--port', '2'], { PORT: 'http' }, ['2', '--port']],
  ['that is empty counts as not set', [], { PORT: '' }, ['5080', 'default']],
] as const) {
  test(`PORT ${what}, says config [D22]`, async () => {
    const words = ['config', '--profile', 'error-demo', ...flags];
    const { code, stdout, stderr } = await runCommand(words, { env });
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(settingsIn(stdout).get('TODO_PORT'), cells);
    assert.deepEqual(settingsIn(stdout).get('TODO_ADMIN_PORT'), ['none: no admin listener', 'default']);
  });
}

test('a start has what its settings say, each of its own', async () => {
  const env = {
    ...{ TODO_AUDIT: 'off', TODO_CORS_ORIGINS: 'https://a.example,http://b:1', TODO_LOG_LEVEL: 'warn' },
    ...{ TODO_MAX_CONNECTIONS: '7', TODO_KEEP_ALIVE_SECONDS: '8', TODO_SHUTDOWN_SECONDS: '9' },
    ...{ TODO_SHUTDOWN_DELAY_SECONDS: '10', TODO_HOST: '127.0.0.2', TODO_PORT: '11' },
    ...{ TODO_ADMIN_HOST: '::1', TODO_ADMIN_PORT: '12', TODO_ENVIRONMENT: 'development' },
  };
  const { config } = await readConfig({ profile: 'error-demo' }, env);
  assert.deepEqual(config, {
    environment: 'development',
    address: { host: '127.0.0.2', port: 11, setting: '--port or TODO_PORT' },
    logLevel: 'warn',
    audit: false,
    corsOrigins: ['https://a.example', 'http://b:1'],
    maxConnections: 7,
    keepAliveSeconds: 8,
    shutdownSeconds: 9,
    shutdownDelaySeconds: 10,
    admin: { host: '::1', port: 12, setting: 'TODO_ADMIN_PORT' },
    traces: undefined,
    profile: { name: 'error-demo' },
  });
  const usual = await readConfig({ profile: 'error-demo' }, {});
  assert.deepEqual([usual.config.audit, usual.config.admin], [true, undefined]);
});

test('config shows no user, no password and no query', async () => {
  const env = {
    ...ISSUER,
    TODO_DATABASE: 'postgres://somebody:s3cr3t@db.example/todos?application_name=s3cr3t',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://somebody:s3cr3t@collector.example/?key=s3cr3t',
  };
  const { code, stdout, stderr } = await runCommand(['config'], { env });
  assert.equal(code, 0);
  assert.doesNotMatch(stdout + stderr, /s3cr3t|somebody/);
  const settings = settingsIn(stdout);
  assert.deepEqual(settings.get('TODO_DATABASE'), ['postgres://db.example:5432/todos', 'variable']);
  assert.deepEqual(settings.get('OTEL_EXPORTER_OTLP_ENDPOINT'), [
    'http://…@collector.example/?…',
    'variable',
  ]);
});

test('config shows no credential of an address in any spelling that serve accepts', async () => {
  const addresses = fc.sample(
    fc.tuple(
      fc.constantFrom('http:', 'HTTP:', 'h\tttps:', 'ht\ntp:'),
      fc.constantFrom('', '/', '//', '///', '\\', '/\\', '/\t/', '\t//'),
      fc.constantFrom('s3cr3t@h', 'u:s3cr3t@h', 'u:s3cr3t@h:1/p', 'h?s3cr3t', 'h/p?k=s3cr3t', 'h/#s3cr3t'),
    ),
    { numRuns: 24, seed: 21 },
  );
  for (const address of addresses.map((parts) => parts.join(''))) {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: address, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address };
    const { code, stdout, stderr } = await runCommand(['config', '--profile', 'error-demo'], { env });
    assert.equal(code, 0, address);
    assert.doesNotMatch(stdout + stderr, /s3cr3t/, address);
  }
});

test('config has the faults of serve, all of them, with 78', async () => {
  const flags = ['--port', 'http', '--no-migrate'];
  const env = { TODO_LOG_LEVEL: 'loud', TODO_AUTH_CLOCK_TOLERANCE: 'x' };
  const { code, stdout, stderr } = await runCommand(['config', ...flags], { env });
  assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
  assert.equal(stderr.match(/^ {2}/gm)?.length, 6);
  assert.deepEqual(await runCommand(['serve', ...flags], { env }), { code, stdout, stderr });
});

test('commands refuse a database that a secret with a final line break names, and make none [D18]', async () => {
  await using folder = await temporaryFolder();
  const env = { ...ISSUER, TODO_DATABASE: `sqlite:${folder.path}/todos.db\n` };
  for (const command of [['serve'], ['config'], ['migrate'], ['check'], ['import', '-']]) {
    const { code, stderr } = await runCommand(command, { env });
    assert.equal(code, 78);
    assert.match(stderr, /\n {2}TODO_DATABASE must not end with white space, received "…\\n"\n$/);
  }
  assert.deepEqual(await readdir(folder.path), []);
});

test('nothing is said of a host beside a TODO_SOCKET that ends with white space [D18]', async () => {
  const env = { TODO_SOCKET: '/run/todo.sock\n', TODO_HOST: 'localhost' };
  const faults = ['TODO_SOCKET must not end with white space, received "…\\n"'];
  await assert.rejects(readConfig({ profile: 'error-demo' }, env), { faults });
});

test('a path of SQLite that begins with white space or a quote, which would be a new file, is a fault', async () => {
  for (const path of [' todos.db', '\u00a0todos.db', '"todos.db"', "'todos.db'"]) {
    const env = { ...ISSUER, TODO_DATABASE: `sqlite:${path}` };
    const { code, stderr } = await runCommand(['config'], { env });
    assert.equal(code, 78);
    assert.match(stderr, /\n {2}TODO_DATABASE must be "sqlite:" and a path, .*, received "sqlite:…"\n$/);
  }
});

test('config says what serve would refuse of the address of a database, or of a variable of libpq beside it', async () => {
  for (const [parameter, variables, fault] of [
    ['target_session_attrs=standby', {}, '"target_session_attrs" must be "any", "read-write" or "primary"'],
    ['application_name=a@b', {}, 'the connection string cannot be read'],
    ['x#y', {}, 'the connection string cannot be read'],
    ['', { PGSSLMODE: 'allow' }, 'PGSSLMODE must be "verify-full"'],
  ] as const) {
    const env = { ...ISSUER, TODO_DATABASE: `postgres://db.example/todos?${parameter}`, ...variables };
    const { code, stderr } = await runCommand(['config'], { env });
    assert.equal(code, 78);
    const wanted = 'TODO_DATABASE must be like "postgres://todo@localhost/todos", received "postgres://…": ';
    assert.ok(stderr.includes(`\n  ${wanted}${fault}`), stderr);
    assert.deepEqual((await runCommand(['check'], { env })).code, 78);
  }
});

test('config asks for a user of the database where that of the process has no name', {
  skip: process.getuid?.() === 0 ? closedToOthers() : 'needs root: runs a command as a user without a name',
}, async () => {
  const env = { ...ISSUER, TODO_DATABASE: 'postgres://db.example/todos', NODE_COMPILE_CACHE: '' };
  const { code, stderr } = await runCommand(['config'], { env, user: { uid: 54_321, gid: 54_321 } });
  assert.equal(code, 78);
  assert.match(stderr, /: it must name a user, because the user of this process has no name\n$/);
});

test('config ends with 69 where a file of a certificate cannot be read', async () => {
  const env = { ...ISSUER, TODO_DATABASE: 'postgres://db.example/todos?sslrootcert=/no/file' };
  const { code, stderr } = await runCommand(['config'], { env });
  assert.equal(code, 69);
  assert.match(stderr, /^Cannot start: .*ENOENT/);
});

test('a misspelled variable is named beside the faults that it causes, by config and by serve', async () => {
  const env = { TODO_AUTH_ISUER: 'https://login.example.org', TODO_AUTH_AUDIENCE: 'todo-service' };
  const { code, stderr } = await runCommand(['config'], { env });
  assert.equal(code, 78);
  assert.match(stderr, /^Nothing reads the variable "TODO_AUTH_ISUER"; "TODO_AUTH_ISSUER" may be meant\.\n/);
  assert.match(stderr, /TODO_AUTH_ISSUER must be .*, received nothing\n$/);
  assert.equal((await runCommand(['serve'], { env })).stderr, stderr);
});
