import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHALLENGE, describeRefusal, INSUFFICIENT_SCOPE, invalidToken, utcTime } from './refusal.ts';

for (const [seconds, time] of [
  [0, '1970-01-01T00:00:00Z'],
  [1_800_000_000.9, '2027-01-15T08:00:00Z'],
  [253_402_300_799, '9999-12-31T23:59:59Z'],
  [253_402_300_800, undefined],
  [-1, undefined],
  [Number.NaN, undefined],
  [Number.MAX_VALUE, undefined],
] as const) {
  test(`${seconds} s after 1970 are ${time ?? 'no time that is said'} [A2]`, () => {
    assert.equal(utcTime(seconds), time);
  });
}

test('a refusal says the time where there is one that can be said [A2]', () => {
  const time = 1_800_000_000;
  assert.equal(describeRefusal({ code: 'expired', time }), 'The token expired at 2027-01-15T08:00:00Z');
  assert.equal(describeRefusal({ code: 'expired', time: 1e300 }), 'The token expired');
  const early = 'The token is not valid before 2027-01-15T08:00:00Z';
  assert.equal(describeRefusal({ code: 'not-yet-valid', time }), early);
  assert.equal(describeRefusal({ code: 'not-yet-valid', time: 1e300 }), 'The token is not valid yet');
});

test('the challenges are those of RFC 6750 [A1; A2; A3]', () => {
  assert.equal(CHALLENGE, 'Bearer realm="todo-service"');
  assert.equal(INSUFFICIENT_SCOPE, 'Bearer realm="todo-service", error="insufficient_scope"');
  assert.equal(
    invalidToken({ code: 'signature' }),
    'Bearer realm="todo-service", error="invalid_token", error_description="The signature of the token is invalid"',
  );
});
