import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CREDENTIALS_MISSING, INSUFFICIENT_SCOPE, invalidToken } from './refusal.ts';

test('a request without credentials learns the realm and no error (A1)', () => {
  assert.equal(CREDENTIALS_MISSING, 'Bearer realm="todo-service"');
});

test('a caller without the role learns that the scope does not suffice (A3)', () => {
  assert.equal(INSUFFICIENT_SCOPE, 'Bearer realm="todo-service", error="insufficient_scope"');
});

test('an expired token is told when it expired (A2)', () => {
  assert.equal(
    invalidToken({ code: 'expired', time: 1795247826 }),
    'Bearer realm="todo-service", error="invalid_token", error_description="The token expired at 2026-11-21T07:57:06Z"',
  );
});

test('a token of tomorrow is told from when it is valid', () => {
  assert.match(
    invalidToken({ code: 'not-yet-valid', time: 1795247826.9 }),
    /error_description="The token is not valid before 2026-11-21T07:57:06Z"$/,
  );
});

for (const time of [-1, -1e300, 1e300, 253402300800]) {
  test(`the time ${time} has no four-digit year and is left out`, () => {
    assert.match(invalidToken({ code: 'expired', time }), /error_description="The token expired"$/);
  });
}
