import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { readConfig, readDatabaseConfig } from '../../src/server/config.ts';
import { ConfigFaults } from '../../src/settings/read.ts';
import { runProgram } from '../support/start.ts';
import { canaries } from './canaries.ts';

/** No address is asked for by this name: no fault below reaches a resolver or a server. */
const PASSWORD = 'c4n4ry-pa55w0rd';
canaries.keepSecret(PASSWORD);

const TRUSTED = { TODO_AUTH_ISSUER: 'https://login.example.org', TODO_AUTH_AUDIENCE: 'todo-service' };

/** Values in which people put passwords, of which none is sound, by variable. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  TODO_DATABASE: [
    `host=db user=todo password=${PASSWORD}`,
    `postgres:todo:${PASSWORD}@db/todos`,
    `postgres://todo:a@${PASSWORD}@db/todos`,
    `postgres://todo:a@${PASSWORD}/b@db/todos`,
    `postgres://todo:${PASSWORD}/b@db/todos`,
    `postgres://todo:12/${PASSWORD}@db/todos`,
    `postgres://todo:12?${PASSWORD}@db/todos`,
    `postgres://todo:12#${PASSWORD}@db/todos`,
    `postgres://todo:${PASSWORD}#b@db/todos`,
    `mysql://todo:${PASSWORD}@db/todos`,
    `mysql://todo:a@${PASSWORD}@db/todos`,
    `postgres://todo:${PASSWORD}@127.0.0.1:port/todos`,
    `jdbc:postgresql://todo:${PASSWORD}@db/todos`,
    PASSWORD,
  ],
  TODO_AUTH_JWKS_URL: [
    `https://todo:${PASSWORD}@login.example.org/jwks`,
    `https://todo:a@${PASSWORD}@login.example.org/jwks`,
    `https://todo:a/${PASSWORD}@login.example.org/jwks`,
    `http://login.example.org/jwks?key=${PASSWORD}`,
    `login.example.org/jwks?key=${PASSWORD}`,
  ],
  TODO_AUTH_ISSUER: [
    `https://todo:${PASSWORD}@login.example.org`,
    `http://todo:a/${PASSWORD}@login.example.org`,
    `https://todo:${PASSWORD}@login.example.org `,
    `https://login.example.org/?key=${PASSWORD}`,
    PASSWORD,
  ],
  HTTPS_PROXY: [
    `todo:${PASSWORD}@proxy:3128`,
    `socks5://todo:${PASSWORD}@proxy:1080`,
    `http://todo:%${PASSWORD}@proxy:3128`,
    `http://todo:${PASSWORD}@`,
    PASSWORD,
  ],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    `todo:${PASSWORD}@collector:4318`,
    `grpc://todo:${PASSWORD}@collector:4317`,
    `collector?key=${PASSWORD}`,
  ],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: [`ftp://todo:a/${PASSWORD}@collector:4318`],
  TODO_CORS_ORIGINS: [
    `https://todo:${PASSWORD}@app.example`,
    `https://app.example,https://todo:a,${PASSWORD}@app.example`,
    `https://todo:12/${PASSWORD},b@app.example`,
  ],
};

/** The faults that a configuration is refused with, none of which has the password. */
async function faultsIn(read: Promise<unknown>): Promise<string> {
  const error = await read.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ConfigFaults);
  assert.ok(!`${error.message}${inspect(error)}`.includes(PASSWORD), error.message);
  return error.message;
}

for (const [variable, values] of Object.entries(VALUES)) {
  test(`no part of a password in ${variable} is in the fault that names it`, async () => {
    for (const value of values) {
      assert.match(
        await faultsIn(readConfig({}, { ...TRUSTED, [variable]: value })),
        new RegExp(`^${variable} must `, 'm'),
      );
    }
  });
}

test('no part of a password in --database is in the fault of a command for operators', async () => {
  for (const value of VALUES.TODO_DATABASE ?? []) await faultsIn(readDatabaseConfig({ database: value }, {}));
});

test('a secret that stands where the name of its file belongs is not shown', async () => {
  for (const value of [PASSWORD, `base64:${PASSWORD}`, `/${PASSWORD}`, PASSWORD.repeat(30)]) {
    for (const other of [{}, { TODO_AUTH_JWKS_URL: 'https://login.example.org/jwks' }]) {
      const env = { ...TRUSTED, TODO_AUTH_SECRET_FILE: value, ...other };
      assert.match(await faultsIn(readConfig({}, env)), /TODO_AUTH_SECRET_FILE/);
    }
  }
});

test('a password that stands where the name of its file belongs is not shown', async () => {
  for (const value of [PASSWORD, `/${PASSWORD}`]) {
    const env = { TODO_DATABASE: 'postgres://todo@127.0.0.1:1/todos', TODO_DATABASE_PASSWORD_FILE: value };
    await faultsIn(readConfig({ environment: 'development' }, env));
  }
});

test('two sources of keys are named without their values', async () => {
  const env = {
    ...TRUSTED,
    TODO_AUTH_KEYS_FILE: 'keys.json',
    TODO_AUTH_JWKS_URL: `https://todo:${PASSWORD}@login.example.org/jwks`,
  };
  assert.match(
    await faultsIn(readConfig({}, env)),
    /only one may be set, received TODO_AUTH_KEYS_FILE and TODO_AUTH_JWKS_URL$/,
  );
});

/** Runs `serve` to its end, and sees to it that no output has the password. */
async function serve(env: Readonly<Record<string, string>>, ...flags: readonly string[]) {
  const { code, stdout, stderr } = await runProgram(['serve', '--port', '0', ...flags], { env });
  assert.ok(!`${stdout}${stderr}`.includes(PASSWORD), stderr);
  return { code, stderr };
}

test('a start with such faults prints them without the password: exit code 78, nobody is asked', async () => {
  const { TODO_AUTH_ISSUER: _, ...values } = VALUES;
  const first = Object.entries(values).map(([variable, [value = '']]) => [variable, value] as const);
  const { code, stderr } = await serve({ ...TRUSTED, ...Object.fromEntries(first) });
  assert.equal(code, 78, stderr);
  for (const [variable] of first) assert.match(stderr, new RegExp(`^  ${variable} must `, 'm'));
});

test('a start names the server that does not answer without the password, at any level [D9]', async () => {
  const password = encodeURIComponent(`a@/${PASSWORD}`);
  const { code, stderr } = await serve(
    {
      TODO_DATABASE: `postgres://todo:${password}@127.0.0.1:1/todos?sslmode=disable`,
      TODO_LOG_LEVEL: 'trace',
    },
    '--environment',
    'development',
  );
  assert.equal(code, 69, stderr);
  assert.match(stderr, /^Cannot start: [^\n]*"postgres:\/\/127\.0\.0\.1:1\/todos"[^\n]*\n$/);
});
