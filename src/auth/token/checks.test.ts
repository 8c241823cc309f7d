import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkTimes } from './checks.ts';

const TOLERANCE = 30;

/** Seconds of exp, nbf and iat, and what comes of them at 1000 with 30 s of tolerance. */
for (const [times, code] of [
  [{ exp: 971 }, undefined],
  [{ exp: 970 }, 'expired'],
  [{ exp: 970.5 }, undefined],
  [{ exp: 2000, nbf: 1030 }, undefined],
  [{ exp: 2000, nbf: 1030.5 }, 'not-yet-valid'],
  [{ exp: 2000, iat: 1030 }, undefined],
  [{ exp: 2000, iat: 1031 }, 'issued-later'],
  [{ exp: 2000, nbf: 0, iat: 0 }, undefined],
  [{ nbf: 0, iat: 0 }, 'expiration-missing'],
  [{ exp: 1, nbf: 2000, iat: 2000 }, 'expired'],
  [{ exp: 2000, nbf: 2000, iat: 2000 }, 'not-yet-valid'],
  ...[null, '2000', true, [2000], Number.POSITIVE_INFINITY, Number.NaN].flatMap((value) => [
    [{ exp: value }, 'time-form'] as const,
    [{ exp: 2000, nbf: value }, 'time-form'] as const,
    [{ exp: 2000, iat: value }, 'time-form'] as const,
  ]),
] as const) {
  test(`at 1000 the times ${said(times)} are ${code ?? 'good'} [A5]`, () => {
    assert.equal(
      checkTimes({ exp: undefined, nbf: undefined, iat: undefined, ...times }, 1000, TOLERANCE)?.code,
      code,
    );
  });
}

test('a refusal for its time says from when on [A2]', () => {
  const times = { exp: 970, nbf: undefined, iat: undefined };
  assert.equal(checkTimes(times, 1000, TOLERANCE)?.time, 970);
  assert.equal(checkTimes({ ...times, exp: 9000, nbf: 2000 }, 1000, TOLERANCE)?.time, 2000);
});

function said(times: object): string {
  return Object.entries(times)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? `"${value}"` : String(value)}`)
    .join(', ');
}
