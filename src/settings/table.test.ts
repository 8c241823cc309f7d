import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultOf, flagOf, valuesOf } from './table.ts';

test('a setting may have a flag', () => {
  assert.equal(flagOf('TODO_DATA_DIR'), 'data-dir');
  assert.equal(flagOf('TODO_SOCKET_MODE'), undefined);
});

for (const [variable, otherwise] of [
  ['TODO_HOST', '`127.0.0.1`'],
  ['TODO_LOG_LEVEL', '`info`, in development `debug`'],
  ['TODO_SOCKET', 'none'],
  ['TODO_DATABASE', '`sqlite:<data dir>/todos.db`'],
] as const) {
  test(`the documents say that the default of ${variable} is ${otherwise}`, () => {
    assert.equal(defaultOf(variable), otherwise);
  });
}

for (const [variable, values] of [
  ['TODO_SOCKET_MODE', '`600`, `660`, `666`'],
  ['TODO_HOST', 'an address or name'],
  ['TODO_DATA_DIR', 'a folder, made when missing'],
  ['TODO_PORT', '0–65535'],
  ['TODO_SHUTDOWN_SECONDS', '0–3600 seconds'],
] as const) {
  test(`the documents say that the values of ${variable} are ${values}`, () => {
    assert.equal(valuesOf(variable), values);
  });
}
