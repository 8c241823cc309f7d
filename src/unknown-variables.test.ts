import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unknownVariables } from './unknown-variables.ts';

for (const [name, nearest] of [
  ['TODO_PROT', 'TODO_PORT'],
  ['TODO_DATABSE', 'TODO_DATABASE'],
  ['TODO_AUTH_ISSUER_URL', 'TODO_AUTH_ISSUER'],
  ['TODO_AUTH_JWKS_URI', 'TODO_AUTH_JWKS_URL'],
  ['TODO_CORS_ORIGIN', 'TODO_CORS_ORIGINS'],
  ['TODO_SHUTDOWN_SECOND', 'TODO_SHUTDOWN_SECONDS'],
  ['TODO_colour_of_the_page', undefined],
] as const) {
  test(`${name} is none; the nearest is ${nearest ?? 'none'}`, () => {
    assert.deepEqual(unknownVariables({ [name]: 's3cr3t' }), [{ name, nearest }]);
  });
}

test('known variables, those of others and the links of Kubernetes to a service "todo" are not unknown', () => {
  const names = [
    'TODO_PORT',
    'TODO_AUTH_ISSUER',
    'OTEL_SERVICE_NAME',
    'PATH',
    'TODOS',
    'TODO_SERVICE_HOST',
    'TODO_SERVICE_PORT',
    'TODO_SERVICE_PORT_HTTP',
    'TODO_PORT_5080_TCP',
    'TODO_PORT_5080_TCP_ADDR',
    'TODO_SERVICE_PORT_5080_TCP_PROTO',
    'TODO_SERVICE_SERVICE_HOST',
    'TODO_DB_PORT',
  ];
  assert.deepEqual(
    unknownVariables(Object.fromEntries(names.map((name) => [name, 'tcp://10.0.0.1:5080']))),
    [],
  );
});
