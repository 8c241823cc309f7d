import { deflateRawSync } from 'node:zlib';
import { encode, forge, jwkOf, publicKey, STRANGERS, signer } from '../forge.ts';
import { header, type Row, type Sabotage } from './row.ts';

export function brokenHeaders(): readonly Row[] {
  const as =
    (header: string | Buffer): Sabotage =>
    (made) =>
      forge(made, { header });
  const changed =
    (change: (json: string) => string | Buffer): Sabotage =>
    (made) =>
      forge(made, { header: change(JSON.stringify(made.header)) });
  return [
    ['A5', 'a header that is no JSON', as('alg: ES256')],
    ['A5', 'a header that is a list', changed((json) => `[${json}]`)],
    ['A5', 'a header that is a string', changed((json) => JSON.stringify(json))],
    ['A5', 'a header that is null', as('null')],
    ['A5', 'text after the header', changed((json) => `${json}{}`)],
    ['A5', 'a comma too many in the header', changed((json) => `${json.slice(0, -1)},}`)],
    ['A5', 'single quotes in the header', changed((json) => json.replaceAll('"', "'"))],
    ['RFC 8725 §2.6', 'a header in UTF-16', changed((json) => Buffer.from(json, 'utf16le'))],
    ['RFC 8725 §3.7', 'a header with a byte order mark', changed((json) => `\ufeff${json}`)],
    [
      'RFC 8725 §3.7',
      'a header that is not UTF-8',
      changed((json) => Buffer.from(json.replace('JWT', 'JW\u00ff'), 'latin1')),
    ],
    ['RFC 7515 §4', 'the algorithm twice', changed((json) => `{"alg":"none",${json.slice(1)}`)],
    [
      'RFC 7515 §4',
      'the algorithm twice, once escaped',
      changed((json) => `{"\\u0061lg":"none",${json.slice(1)}`),
    ],
    [
      'RFC 7515 §4',
      'the algorithm twice, behind an escaped colon',
      changed((json) => `{"alg"\\u003a"none",${json.slice(1)}`),
    ],
    ['RFC 7515 §4', 'the key id twice', changed((json) => `{"kid":"p256",${json.slice(1)}`)],
    ['RFC 7515 §4.1.4', 'a key id that is a number', header({ kid: 256 })],
    ['RFC 7515 §4.1.4', 'a key id that is null', header({ kid: null })],
    ['RFC 7515 §4.1.4', 'a key id that is a list', header({ kid: ['p256'] })],
    ['RFC 7515 §4.1.4', 'a key id that is an object', header({ kid: { p256: true } })],
  ];
}

export function refusedParameters(): readonly Row[] {
  const stranger = jwkOf(STRANGERS.p256, 'p256');
  const byStranger = signer('ES256', STRANGERS.p256.privateKey);
  const unencoded: Sabotage = (made) => {
    const head = encode({ ...made.header, b64: false, crit: ['b64'] });
    const payload = encode(made.claims);
    return `${head}.${payload}.${made.sign(`${head}.${payload}`).toString('base64url')}`;
  };
  return [
    ['A5', 'an empty crit', header({ crit: [] })],
    ['RFC 8725 §3.1', 'crit with something nobody knows', header({ crit: ['role'], role: 'editor' })],
    ['RFC 7515 §4.1.11', 'crit with a registered parameter', header({ crit: ['alg'] })],
    ['A5', 'crit null', header({ crit: null })],
    ['RFC 7797', 'an unencoded payload', unencoded],
    ['RFC 7797', 'b64 true', header({ b64: true })],
    [
      'RFC 8725 §3.6',
      'a compressed payload',
      (made) =>
        forge(made, {
          header: { ...made.header, zip: 'DEF' },
          claims: deflateRawSync(JSON.stringify(made.claims)),
        }),
    ],
    ['RFC 8725 §3.6', 'zip without compression', header({ zip: 'DEF' })],
    [
      'RFC 8725 §2.1',
      'a stranger who brings the key',
      (made) => forge(made, { header: { ...made.header, jwk: stranger }, sign: byStranger }),
    ],
    ['A5', 'the right key brought along', header({ jwk: jwkOf({ publicKey: publicKey('p256') }, 'p256') })],
    ['RFC 8725 §3.10', 'an address for keys', header({ jku: 'https://attacker.example/jwks' })],
    [
      'RFC 8725 §2.9',
      'an address inside the network',
      header({ jku: 'http://169.254.169.254/latest/meta-data' }),
    ],
    ['RFC 8725 §3.10', 'an address for a certificate', header({ x5u: 'https://attacker.example/cert.pem' })],
    ['RFC 8725 §3.10', 'a certificate', header({ x5c: ['MIIB'] })],
    ['A5', 'an empty certificate chain', header({ x5c: [] })],
  ];
}

export function otherKinds(): readonly Row[] {
  const kinds: readonly unknown[] = [
    'logout+jwt',
    'secevent+jwt',
    'dpop+jwt',
    'oauth-authz-req+jwt',
    'token-introspection+jwt',
    'client-authentication+jwt',
    'entity-statement+jwt',
    'kb+jwt',
    'vc+sd-jwt',
    'JOSE',
    'JOSE+JSON',
    'id+jwt',
    'text/jwt',
    'application/application/jwt',
    'JWT ',
    'at+jwt; charset=utf-8',
    '',
    null,
    7,
    true,
    ['JWT'],
    { JWT: true },
  ];
  return kinds.map((typ) => ['RFC 8725 §3.11', `typ ${JSON.stringify(typ)}`, header({ typ })]);
}
