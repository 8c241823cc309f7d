import { deflateRawSync } from 'node:zlib';
import { AUDIENCE, forge, ISSUER } from '../forge.ts';
import { changedClaims, claims, claimsText, type Row } from './row.ts';

/** What providers and libraries write into the payload, whatever the header says. */
export const otherKinds: readonly Row[] = [
  ...['ID', 'Refresh', 'Offline', 'Logout'].map((typ) => ({ typ })),
  { token_use: 'id' },
  { tokenType: 'refresh-token' },
  { TokenType: 'refresh-token' },
  { token_type: 'refresh' },
  { type: 'refresh' },
].map((kind) => ['A5; RFC 8725 §3.12', `the claim ${JSON.stringify(kind)}`, claims(kind)]);

export const brokenClaims: readonly Row[] = [
  ['RFC 7519 §7.2', 'claims that are no JSON', changedClaims(() => 'role=editor')],
  ['RFC 7519 §7.2', 'claims that are a list', changedClaims((json) => `[${json}]`)],
  ['RFC 7519 §7.2', 'claims that are a string', changedClaims((json) => JSON.stringify(json))],
  ['RFC 7519 §7.2', 'claims that are null', changedClaims(() => 'null')],
  ['RFC 8725 §2.3', 'a token inside the token', (made) => forge(made, { claims: forge(made) })],
  ['A5', 'text after the claims', changedClaims((json) => `${json}{}`)],
  ['A5', 'a comma too many in the claims', changedClaims((json) => `${json.slice(0, -1)},}`)],
  ['A5', 'single quotes in the claims', changedClaims((json) => json.replaceAll('"', "'"))],
  ['A5', 'a comment in the claims', changedClaims((json) => `/**/${json}`)],
  ['A5', 'NaN', claimsText('"x":NaN')],
  ['A5', 'a number with a leading zero', claimsText('"x":01')],
  ['A5', 'a control character', claimsText('"x":"\u0001"')],
  ['RFC 8725 §2.6', 'claims in UTF-16', changedClaims((json) => Buffer.from(json, 'utf16le'))],
  ['RFC 8725 §3.7', 'claims with a byte order mark', changedClaims((json) => `\ufeff${json}`)],
  [
    'RFC 8725 §3.7',
    'claims that are not UTF-8',
    changedClaims((json) => Buffer.from(json.replace('ada', 'ad\u00e4'), 'latin1')),
  ],
  [
    'RFC 8725 §3.7',
    'claims in overlong UTF-8',
    changedClaims((json) => Buffer.from(json.replace('ada', '\u00c1\u00a1da'), 'latin1')),
  ],
  ['RFC 7519 §4', 'the role twice', claimsText('"role":"reader"')],
  ['RFC 7519 §4', 'the role twice, once escaped', claimsText('"r\\u006fle":"reader"')],
  ['RFC 7519 §4', 'the role twice, behind an escaped colon', claimsText('"role"\\u003a"editor"')],
  ['A5', 'an escaped brace in front', changedClaims((json) => `\\u007b${json.slice(1)}`)],
  ['A5', 'an escaped blank between two claims', claimsText('\\u0020"x":1')],
  ['A5', 'an escaped letter in true', claimsText('"x":\\u0074rue')],
  ['RFC 7519 §4', 'the expiration twice', claimsText('"exp":9999999999')],
  [
    'RFC 7519 §4',
    'two members of one name, deeper',
    claimsText('"realm_access":{"roles":["reader"],"roles":["editor"]}'),
  ],
  ['RFC 7519 §4', 'two prototypes', claimsText('"__proto__":{},"__proto__":{}')],
  [
    'RFC 8725 §3.6',
    'compressed claims that do not say so',
    (made) => forge(made, { claims: deflateRawSync(JSON.stringify(made.claims)) }),
  ],
];

export const otherIssuers: readonly Row[] = [
  ...[
    undefined,
    null,
    '',
    `${ISSUER}/`,
    ISSUER.toUpperCase(),
    `${ISSUER}.attacker.example`,
    ISSUER.slice(0, -1),
    ISSUER.replace('https', 'http'),
    ` ${ISSUER}`,
    `${ISSUER}\u0000`,
    `${ISSUER}#`,
    ISSUER.replace('login', 'log\u0456n'),
    [ISSUER],
    { [ISSUER]: true },
    7,
    true,
    'urn:todo-service:development',
  ].map((iss): Row => ['RFC 8725 §3.8', `iss ${JSON.stringify(iss)}`, claims({ iss })]),
  ['RFC 8725 §3.8', 'an inherited iss', claimsText(`"__proto__":{"iss":"${ISSUER}"}`, ['iss'])],
  ['RFC 8725 §3.8', 'Iss', claimsText(`"Iss":"${ISSUER}"`, ['iss'])],
];

export const otherAudiences: readonly Row[] = [
  ...[
    undefined,
    null,
    '',
    'account',
    AUDIENCE.toUpperCase(),
    `${AUDIENCE}/`,
    `${AUDIENCE}-admin`,
    AUDIENCE.slice(0, -1),
    `${AUDIENCE} account`,
    [],
    ['account'],
    [AUDIENCE.toUpperCase()],
    [[AUDIENCE]],
    [AUDIENCE, 7],
    [AUDIENCE, null],
    { 0: AUDIENCE, length: 1 },
    7,
    true,
  ].map((aud): Row => ['RFC 8725 §3.9', `aud ${JSON.stringify(aud)}`, claims({ aud })]),
  [
    'RFC 8725 §2.7',
    'made for another service by the same issuer',
    claims({ aud: 'https://billing.example.org', azp: AUDIENCE, client_id: AUDIENCE }),
  ],
  ['RFC 8725 §3.9', 'an inherited aud', claimsText(`"__proto__":{"aud":"${AUDIENCE}"}`, ['aud'])],
];

const now = Math.floor(Date.now() / 1000);

export const missingExpirations: readonly Row[] = [
  ['A5', 'no exp', claims({ exp: undefined })],
  ['A5', 'an inherited exp', claimsText('"__proto__":{"exp":9999999999}', ['exp'])],
  ['A5', 'Exp', claimsText('"Exp":9999999999', ['exp'])],
];

const notDates = [
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
  notDates.map((value) => ['RFC 7519 §2', `${name} ${value}`, claimsText(`"${name}":${value}`, [name])]);

export const brokenTimes: readonly Row[] = [...of('exp'), ...of('nbf'), ...of('iat')];

export const expired: readonly Row[] = [
  ['RFC 7519 §4.1.4', 'expired an hour ago', claims({ exp: now - 3600 })],
  ['A8', 'expired longer ago than the tolerance', claims({ exp: now - 31 })],
  ['RFC 7519 §4.1.4', 'expired in 1970', claims({ exp: 0 })],
  ['RFC 7519 §4.1.4', 'expired by a fraction', claims({ exp: now - 30.5 })],
  ['RFC 7519 §4.1.4', 'a secret, expired', claims({ exp: now - 3600 }), 'secret'],
];

export const expiredBeforeDates: readonly Row[] = [
  ['RFC 7519 §4.1.4', 'expired before 1970', claims({ exp: -1 })],
  ['RFC 7519 §4.1.4', 'expired before there were dates', claims({ exp: -1e300 })],
];

export const expiredInAFraction: readonly Row[] = [
  ['A2', 'expired in a fraction of a second', claims({ exp: 999_999_999.9 })],
];

export const tooEarlyForDates: readonly Row[] = [
  ['A2', 'valid in the year 10000', claims({ nbf: 253402300800 })],
];

export const tooEarly: readonly Row[] = [
  ['RFC 7519 §4.1.5', 'valid in an hour', claims({ nbf: now + 3600 })],
  ['A8', 'valid later than the tolerance', claims({ nbf: now + 1000 })],
  ['RFC 7519 §4.1.5', 'valid in the year 9999', claims({ nbf: 253402300799 })],
];

export const issuedLater: readonly Row[] = [
  ['RFC 7519 §4.1.6', 'issued in an hour', claims({ iat: now + 3600 })],
  ['A8', 'issued later than the tolerance', claims({ iat: now + 1000 })],
  ['RFC 7519 §4.1.6', 'issued when there are no more dates', claims({ iat: 1e300 })],
];
