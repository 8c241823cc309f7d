import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { runProgram, startService } from '../start.ts';

const lines = (text: string) => text.trimEnd().split('\n');

test('A12 · all faults of a configuration, which is of production unless told otherwise, are reported together, with exit code 78', async () => {
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

test('D1 · the profile is shared-list unless told otherwise, and error-demo is the only other one', async () => {
  for (const [profile, args] of [
    ['shared-list', []],
    ['error-demo', ['--profile', 'error-demo']],
    // The later of two wins.
    ['error-demo', ['--profile', 'shared-list', '--profile', 'error-demo']],
  ] as const) {
    const { stdout } = await runProgram(['config', '--environment', 'development', ...args]);
    assert.match(stdout, new RegExp(`^TODO_PROFILE +${profile} `));
  }
  const { stderr } = await runProgram(['config', '--profile', 'both']);
  assert.match(stderr, /--profile must be one of "shared-list", "error-demo", received "both"/);
});

test('A12 · the error demo reads no authentication and no database setting', async () => {
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

test('wrong usage is a message without a stack and exit code 2', async () => {
  for (const args of [
    ['serve', 'todos'],
    ['serve', '--port'],
    ['token', 'create', 'ada'],
  ]) {
    const { code, stdout, stderr } = await runProgram(args);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, /--help/);
    assert.doesNotMatch(stderr, /^ {4}at /m);
  }
});

test('help is on standard output, without a command too', async () => {
  for (const args of [['-h'], ['help'], ['--profile', 'error-demo', '-h']]) {
    const { code, stdout, stderr } = await runProgram(args);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /^Usage: todo-service/);
  }
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
