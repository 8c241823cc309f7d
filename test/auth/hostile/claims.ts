import { deflateRawSync } from 'node:zlib';
import { AUDIENCE, forge, ISSUER } from '../forge.ts';
import { claims, claimsText, type Row, type Sabotage } from './row.ts';

export function brokenClaims(): readonly Row[] {
  const changed =
    (change: (json: string) => string | Buffer): Sabotage =>
    (made) =>
      forge(made, { claims: change(JSON.stringify(made.claims)) });
  return [
    ['RFC 7519 §7.2', 'claims that are no JSON', changed(() => 'role=editor')],
    ['RFC 7519 §7.2', 'claims that are a list', changed((json) => `[${json}]`)],
    ['RFC 7519 §7.2', 'claims that are a string', changed((json) => JSON.stringify(json))],
    ['RFC 7519 §7.2', 'claims that are null', changed(() => 'null')],
    ['RFC 8725 §2.3', 'a token inside the token', (made) => forge(made, { claims: forge(made) })],
    ['A5', 'text after the claims', changed((json) => `${json}{}`)],
    ['A5', 'a comma too many in the claims', changed((json) => `${json.slice(0, -1)},}`)],
    ['A5', 'single quotes in the claims', changed((json) => json.replaceAll('"', "'"))],
    ['A5', 'a comment in the claims', changed((json) => `/**/${json}`)],
    ['A5', 'NaN', claimsText('"x":NaN')],
    ['A5', 'a number with a leading zero', claimsText('"x":01')],
    ['A5', 'a control character', claimsText('"x":"\u0001"')],
    ['RFC 8725 §2.6', 'claims in UTF-16', changed((json) => Buffer.from(json, 'utf16le'))],
    ['RFC 8725 §3.7', 'claims with a byte order mark', changed((json) => `\ufeff${json}`)],
    [
      'RFC 8725 §3.7',
      'claims that are not UTF-8',
      changed((json) => Buffer.from(json.replace('ada', 'ad\u00e4'), 'latin1')),
    ],
    [
      'RFC 8725 §3.7',
      'claims in overlong UTF-8',
      changed((json) => Buffer.from(json.replace('ada', '\u00c1\u00a1da'), 'latin1')),
    ],
    ['RFC 7519 §4', 'the role twice', claimsText('"role":"reader"')],
    ['RFC 7519 §4', 'the role twice, once escaped', claimsText('"r\\u006fle":"reader"')],
    ['RFC 7519 §4', 'the role twice, behind an escaped colon', claimsText('"role"\\u003a"editor"')],
    ['A5', 'an escaped brace in front', changed((json) => `\\u007b${json.slice(1)}`)],
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
}

export function otherIssuers(): readonly Row[] {
  const values: readonly unknown[] = [
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
  ];
  return [
    ...values.map((iss): Row => ['RFC 8725 §3.8', `iss ${JSON.stringify(iss)}`, claims({ iss })]),
    ['RFC 8725 §3.8', 'an inherited iss', claimsText(`"__proto__":{"iss":"${ISSUER}"}`, ['iss'])],
    ['RFC 8725 §3.8', 'Iss', claimsText(`"Iss":"${ISSUER}"`, ['iss'])],
  ];
}

export function otherAudiences(): readonly Row[] {
  const values: readonly unknown[] = [
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
  ];
  return [
    ...values.map((aud): Row => ['RFC 8725 §3.9', `aud ${JSON.stringify(aud)}`, claims({ aud })]),
    [
      'RFC 8725 §2.7',
      'made for another service by the same issuer',
      claims({ aud: 'https://billing.example.org', azp: AUDIENCE, client_id: AUDIENCE }),
    ],
    ['RFC 8725 §3.9', 'an inherited aud', claimsText(`"__proto__":{"aud":"${AUDIENCE}"}`, ['aud'])],
  ];
}
