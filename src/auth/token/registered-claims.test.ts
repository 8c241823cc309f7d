import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkTimes } from './registered-claims.ts';

/** Seconds: exp, nbf, iat, now, tolerance, and what is wrong. RFC 7519 §4.1.4 to §4.1.6, contract A8. */
const TIMES: readonly (readonly [
  number,
  number | undefined,
  number | undefined,
  number,
  number,
  string | undefined,
])[] = [
  [100, undefined, undefined, 99.999, 0, undefined],
  [100, undefined, undefined, 100, 0, 'expired'],
  [100, undefined, undefined, 129.999, 30, undefined],
  [100, undefined, undefined, 130, 30, 'expired'],
  [100.5, undefined, undefined, 100.4, 0, undefined],
  [100.5, undefined, undefined, 100.5, 0, 'expired'],
  [100, 50, undefined, 50, 0, undefined],
  [100, 50, undefined, 49.999, 0, 'not-yet-valid'],
  [100, 50, undefined, 20, 30, undefined],
  [100, 50, undefined, 19.999, 30, 'not-yet-valid'],
  [100, undefined, 50, 50, 0, undefined],
  [100, undefined, 50, 49.999, 0, 'issued-later'],
  [100, undefined, 50, 20, 30, undefined],
  [100, 50, 60, 55, 0, 'issued-later'],
  [100, 200, undefined, 150, 0, 'expired'],
];

for (const [exp, nbf, iat, now, tolerance, code] of TIMES) {
  const claims = JSON.stringify({ exp, nbf, iat });
  test(`${claims} at ${now} with ${tolerance} s of tolerance is ${code ?? 'valid'}`, () => {
    assert.equal(checkTimes({ exp, nbf, iat }, now, tolerance)?.code, code);
  });
}
