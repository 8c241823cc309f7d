import { claims, claimsText, type Row } from './row.ts';

export function missingExpirations(): readonly Row[] {
  return [
    ['A5', 'no exp', claims({ exp: undefined })],
    ['A5', 'an inherited exp', claimsText('"__proto__":{"exp":9999999999}', ['exp'])],
    ['A5', 'Exp', claimsText('"Exp":9999999999', ['exp'])],
  ];
}

export function brokenTimes(): readonly Row[] {
  const values = [
    'null',
    '"9999999999"',
    '"2099-01-01T00:00:00Z"',
    'true',
    '[9999999999]',
    '{}',
    '1e999',
    '-1e999',
  ];
  const of = (name: string): Row[] =>
    values.map((value) => ['RFC 7519 §2', `${name} ${value}`, claimsText(`"${name}":${value}`, [name])]);
  return [...of('exp'), ...of('nbf'), ...of('iat')];
}

export function expired(): readonly Row[] {
  const now = Math.floor(Date.now() / 1000);
  return [
    ['RFC 7519 §4.1.4', 'expired an hour ago', claims({ exp: now - 3600 })],
    ['A8', 'expired longer ago than the tolerance', claims({ exp: now - 31 })],
    ['RFC 7519 §4.1.4', 'expired in 1970', claims({ exp: 0 })],
    ['RFC 7519 §4.1.4', 'expired by a fraction', claims({ exp: now - 30.5 })],
    ['RFC 7519 §4.1.4', 'a secret, expired', claims({ exp: now - 3600 }), 'secret'],
  ];
}

export function expiredBeforeDates(): readonly Row[] {
  return [
    ['RFC 7519 §4.1.4', 'expired before 1970', claims({ exp: -1 })],
    ['RFC 7519 §4.1.4', 'expired before there were dates', claims({ exp: -1e300 })],
  ];
}

export function tooEarly(): readonly Row[] {
  const now = Math.floor(Date.now() / 1000);
  return [
    ['RFC 7519 §4.1.5', 'valid in an hour', claims({ nbf: now + 3600 })],
    ['A8', 'valid later than the tolerance', claims({ nbf: now + 300 })],
    ['RFC 7519 §4.1.5', 'valid in the year 9999', claims({ nbf: 253402300799 })],
  ];
}

export function issuedLater(): readonly Row[] {
  const now = Math.floor(Date.now() / 1000);
  return [
    ['RFC 7519 §4.1.6', 'issued in an hour', claims({ iat: now + 3600 })],
    ['A8', 'issued later than the tolerance', claims({ iat: now + 300 })],
    ['RFC 7519 §4.1.6', 'issued when there are no more dates', claims({ iat: 1e300 })],
  ];
}
