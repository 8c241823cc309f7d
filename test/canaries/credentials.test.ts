import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProgram } from '../start.ts';
import { canaries } from './canaries.ts';

/** No address is asked for by this name: no fault below reaches a resolver or a server. */
const PASSWORD = 'c4n4ry-pa55w0rd';
canaries.keepSecret(PASSWORD);

const TRUSTED = { TODO_AUTH_ISSUER: 'https://login.example.org', TODO_AUTH_AUDIENCE: 'todo-service' };

/** Values in which people put passwords, of which none is sound. */
const VALUES: readonly (readonly [string, readonly string[]])[] = [
  [
    'TODO_DATABASE',
    [
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
      `jdbc:postgresql://todo:${PASSWORD}@db/todos`,
      PASSWORD,
    ],
  ],
  [
    'TODO_AUTH_JWKS_URL',
    [
      `https://todo:${PASSWORD}@login.example.org/jwks`,
      `https://todo:a@${PASSWORD}@login.example.org/jwks`,
      `https://todo:a/${PASSWORD}@login.example.org/jwks`,
      `http://login.example.org/jwks?key=${PASSWORD}`,
      `login.example.org/jwks?key=${PASSWORD}`,
    ],
  ],
  [
    'TODO_AUTH_ISSUER',
    [
      `https://todo:${PASSWORD}@login.example.org`,
      `http://todo:a/${PASSWORD}@login.example.org`,
      `https://todo:${PASSWORD}@login.example.org `,
      `https://login.example.org/?key=${PASSWORD}`,
      PASSWORD,
    ],
  ],
  [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    [
      `todo:${PASSWORD}@collector:4318`,
      `grpc://todo:${PASSWORD}@collector:4317`,
      `collector?key=${PASSWORD}`,
    ],
  ],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', [`ftp://todo:a/${PASSWORD}@collector:4318`]],
  [
    'TODO_CORS_ORIGINS',
    [
      `https://todo:${PASSWORD}@app.example`,
      `https://app.example,https://todo:a,${PASSWORD}@app.example`,
      `https://todo:12/${PASSWORD},b@app.example`,
    ],
  ],
];

for (const [variable, values] of VALUES) {
  test(`no part of a password in ${variable} is in the fault that names it: exit code 78, nobody is asked`, async () => {
    for (const value of values) {
      const { code, stdout, stderr } = await runProgram(['serve', '--port', '0'], {
        env: { ...TRUSTED, [variable]: value },
      });
      assert.equal(code, 78, stderr);
      assert.match(stderr, new RegExp(`^  ${variable} must `, 'm'));
      assert.ok(!`${stdout}${stderr}`.includes(PASSWORD), stderr);
    }
  });
}

test('no part of a password in --database is in the fault of a command for operators', async () => {
  for (const value of VALUES[0]?.[1] ?? []) {
    const { code, stdout, stderr } = await runProgram(['check', '--database', value]);
    assert.equal(code, 78, stderr);
    assert.ok(!`${stdout}${stderr}`.includes(PASSWORD), stderr);
  }
});

test('a secret that stands where the name of its file belongs is not shown', async () => {
  for (const value of [PASSWORD, `base64:${PASSWORD}`, `/${PASSWORD}`, PASSWORD.repeat(30)]) {
    for (const other of [{}, { TODO_AUTH_JWKS_URL: 'https://login.example.org/jwks' }]) {
      const { code, stdout, stderr } = await runProgram(['config'], {
        env: { ...TRUSTED, TODO_AUTH_SECRET_FILE: value, ...other },
      });
      assert.equal(code, 78, stderr);
      assert.match(stderr, /TODO_AUTH_SECRET_FILE/);
      assert.ok(!`${stdout}${stderr}`.includes(PASSWORD), stderr);
    }
  }
});

test('a password that stands where the name of its file belongs is not shown', async () => {
  for (const value of [PASSWORD, `/${PASSWORD}`]) {
    const env = { TODO_DATABASE: 'postgres://todo@127.0.0.1:1/todos', TODO_DATABASE_PASSWORD_FILE: value };
    const { code, stdout, stderr } = await runProgram(['config', '--environment', 'development'], { env });
    assert.equal(code, 78, stderr);
    assert.ok(!`${stdout}${stderr}`.includes(PASSWORD), stderr);
  }
});

test('two sources of keys are named without the password of one', async () => {
  const { code, stderr } = await runProgram(['serve', '--port', '0'], {
    env: {
      ...TRUSTED,
      TODO_AUTH_KEYS_FILE: 'keys.json',
      TODO_AUTH_JWKS_URL: `https://todo:${PASSWORD}@login.example.org/jwks`,
    },
  });
  assert.equal(code, 78);
  assert.match(
    stderr,
    /only one may be set, received TODO_AUTH_KEYS_FILE="keys\.json" and TODO_AUTH_JWKS_URL="https:\/\/…@/,
  );
  assert.ok(!stderr.includes(PASSWORD), stderr);
});

for (const database of [
  `postgres://todo:${PASSWORD}@127.0.0.1:1/todos`,
  `postgres://todo:${encodeURIComponent(`a@/${PASSWORD}`)}@127.0.0.1:1/todos?sslmode=disable`,
]) {
  test(`a server that does not answer is named without the password: ${database.length}`, async () => {
    const { code, stdout, stderr } = await runProgram(['check', '--database', database]);
    assert.equal(code, 69, stderr);
    assert.match(stderr, /postgres:\/\/127\.0\.0\.1:1\/todos/);
    assert.ok(!`${stdout}${stderr}`.includes(PASSWORD), stderr);
  });
}
