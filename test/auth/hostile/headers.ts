import { deflateRawSync } from 'node:zlib';
import {
  draft,
  encode,
  forge,
  jwkOf,
  type KeyName,
  mac,
  privateKey,
  publicKey,
  STRANGERS,
  signer,
} from '../forge.ts';
import { changedHeader, claims, header, type Row, type Sabotage, text } from './row.ts';

/** The same bytes by a lenient decoder: bits behind the last byte are set. */
function strayBits(segment: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet[alphabet.indexOf(segment.at(-1) ?? '') | 1] ?? '';
  return `${segment.slice(0, -1)}${last}`;
}

const withName = (name: string) => draft('p256', { claims: { name } });
const ragged = withName('x'.repeat(encode(withName('').claims).length % 4 === 0 ? 1 : 0));
const urlSafe = withName('\u00fb\u00ff~~~???>>>');

export const brokenForms: readonly Row[] = [
  ['A5', 'padding after the signature', text((token) => `${token}==`)],
  ['A5', 'padding after the claims', text((_, [h, p, s]) => `${h}.${p}=.${s}`)],
  ['A5', 'padding after the header', text((_, [h, p, s]) => `${h}==.${p}.${s}`)],
  ['A5', 'stray bits in the signature', text((_, [h, p, s]) => `${h}.${p}.${strayBits(s)}`)],
  ['A5', 'stray bits in the claims', text((_, [h, p, s]) => `${h}.${strayBits(p)}.${s}`), 'p256', ragged],
  ['A5', 'a letter that makes no byte', text((token) => `${token}AAA`)],
  [
    'A5',
    'the alphabet of plain base64',
    (made) => forge(made).replaceAll('-', '+').replaceAll('_', '/'),
    'p256',
    urlSafe,
  ],
  ['A5', 'a blank inside', text((_, [h, p, s]) => `${h}.${p.slice(0, 9)} ${p.slice(9)}.${s}`)],
  ['A5', 'a tab inside', text((_, [h, p, s]) => `${h}.${p}.\t${s}`)],
  ['A5', 'a letter beyond ASCII', text((token) => `${token}\u00e9`)],
  ['A5', 'quotation marks around it', text((token) => `"${token}"`)],
  ['A5', 'two tokens with a comma', text((token) => `${token},${token}`)],
  ['A5', 'an escaped dot', text((_, [h, p, s]) => `${h}%2E${p}.${s}`)],
  ['A5', 'a dot too many', text((token) => `${token}.`)],
  ['A5', 'a dot before', text((token) => `.${token}`)],
  ['A5', 'a fourth part', text((token) => `${token}.e30`)],
  ['RFC 7515 §7.1', 'only two parts', text((_, [h, p]) => `${h}.${p}`)],
  ['RFC 7515 §7.1', 'one part, an opaque token', text((_, [, , s]) => s)],
  ['RFC 8725 §2.1', 'no signature', text((_, [h, p]) => `${h}.${p}.`)],
  ['RFC 7515 §7.1', 'no header', text((_, [, p, s]) => `.${p}.${s}`)],
  ['RFC 7515 app. F', 'a detached payload', text((_, [h, , s]) => `${h}..${s}`)],
  [
    'RFC 7515 §7.2',
    'the JSON serialization',
    text((_, [h, payload, signature]) => JSON.stringify({ payload, signature, protected: h })),
  ],
  [
    'RFC 8725 §2.3',
    'an encrypted token',
    text((_, [, p, s]) => `${encode({ alg: 'dir', enc: 'A256GCM' })}..${s}.${p}.${s}`),
  ],
  [
    'RFC 8725 §3.2',
    'alg none without signature',
    (made) => forge(made, { header: { alg: 'none' }, sign: () => Buffer.alloc(0) }),
  ],
  [
    'RFC 8725 §3.2',
    'alg NONE without signature',
    (made) => forge(made, { header: { alg: 'NONE', kid: 'p256' }, sign: () => Buffer.alloc(0) }),
  ],
];

const room = 12 * 1024 - forge(draft('p256', { claims: { pad: '' } })).length;
const full = draft('p256', { claims: { pad: 'x'.repeat(Math.floor((room * 3) / 4) - 4) } });

export const tooLong: readonly Row[] = [
  ['A5', '12 KiB and more, well signed', claims({ pad: 'x'.repeat(9500) }), 'p256', full],
  ['A5', '12 KiB of signature', text((token) => token + 'A'.repeat(12 * 1024))],
];

export const brokenHeaders: readonly Row[] = [
  ['A5', 'a header that is no JSON', changedHeader(() => 'alg: ES256')],
  ['A5', 'a header that is a list', changedHeader((json) => `[${json}]`)],
  ['A5', 'a header that is a string', changedHeader((json) => JSON.stringify(json))],
  ['A5', 'a header that is null', changedHeader(() => 'null')],
  ['A5', 'text after the header', changedHeader((json) => `${json}{}`)],
  ['A5', 'a comma too many in the header', changedHeader((json) => `${json.slice(0, -1)},}`)],
  ['A5', 'single quotes in the header', changedHeader((json) => json.replaceAll('"', "'"))],
  ['RFC 8725 §2.6', 'a header in UTF-16', changedHeader((json) => Buffer.from(json, 'utf16le'))],
  ['RFC 8725 §3.7', 'a header with a byte order mark', changedHeader((json) => `\ufeff${json}`)],
  [
    'RFC 8725 §3.7',
    'a header that is not UTF-8',
    changedHeader((json) => Buffer.from(json.replace('JWT', 'JW\u00ff'), 'latin1')),
  ],
  ['RFC 7515 §4', 'the algorithm twice', changedHeader((json) => `{"alg":"none",${json.slice(1)}`)],
  [
    'RFC 7515 §4',
    'the algorithm twice, once escaped',
    changedHeader((json) => `{"\\u0061lg":"none",${json.slice(1)}`),
  ],
  [
    'RFC 7515 §4',
    'the algorithm twice, behind an escaped colon',
    changedHeader((json) => `{"alg"\\u003a"none",${json.slice(1)}`),
  ],
  ['RFC 7515 §4', 'the key id twice', changedHeader((json) => `{"kid":"p256",${json.slice(1)}`)],
  ['RFC 7515 §4.1.4', 'a key id that is a number', header({ kid: 256 })],
  ['RFC 7515 §4.1.4', 'a key id that is null', header({ kid: null })],
  ['RFC 7515 §4.1.4', 'a key id that is a list', header({ kid: ['p256'] })],
  ['RFC 7515 §4.1.4', 'a key id that is an object', header({ kid: { p256: true } })],
];

const stranger = jwkOf(STRANGERS.p256.publicKey, 'p256');
const byStranger = signer('ES256', STRANGERS.p256.privateKey);
const unencoded: Sabotage = (made) => {
  const head = encode({ ...made.header, b64: false, crit: ['b64'] });
  const payload = encode(made.claims);
  return `${head}.${payload}.${made.sign(`${head}.${payload}`).toString('base64url')}`;
};

export const refusedParameters: readonly Row[] = [
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
  ['A5', 'the right key brought along', header({ jwk: jwkOf(publicKey('p256'), 'p256') })],
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

export const otherKinds: readonly Row[] = [
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
].map((typ): Row => ['RFC 8725 §3.11', `typ ${JSON.stringify(typ)}`, header({ typ })]);

const alg = (value: unknown): Sabotage => header({ alg: value });
const spki = publicKey('rsa').export({ type: 'spki', format: 'pem' });
const pkcs1 = publicKey('rsa').export({ type: 'pkcs1', format: 'pem' });
const der = publicKey('rsa').export({ type: 'spki', format: 'der' });
const jwk = publicKey('rsa').export({ format: 'jwk' });
const confused =
  (secret: Buffer | string, kid: string | undefined = 'rsa'): Sabotage =>
  (made) =>
    forge(made, { header: { alg: 'HS256', typ: 'JWT', kid }, sign: mac('sha256', secret) });
const wrong =
  (name: string, key: KeyName): Sabotage =>
  (made) =>
    forge(made, { header: { ...made.header, alg: name }, sign: signer(name, privateKey(key)) });

export const otherAlgorithms: readonly Row[] = [
  ['RFC 8725 §2.1', 'alg none with a signature', alg('none')],
  ['RFC 8725 §2.1', 'alg nOnE with a signature', alg('nOnE')],
  ['RFC 7515 §4.1.1', 'no alg', alg(undefined)],
  ['RFC 7515 §4.1.1', 'alg null', alg(null)],
  ['RFC 7515 §4.1.1', 'an empty alg', alg('')],
  ['RFC 7515 §4.1.1', 'alg in a list', alg(['ES256'])],
  ['RFC 7515 §4.1.1', 'alg in lower case', alg('es256')],
  ['RFC 7515 §4.1.1', 'alg with a blank', alg('ES256 ')],
  ['A6', 'alg inherited', (made) => forge(made, { header: '{"__proto__":{"alg":"ES256"},"kid":"p256"}' })],
  ['A6', 'alg of an object', alg('constructor')],
  ['A6', 'RSA with SHA-1', alg('RS1'), 'rsa'],
  ['A6', 'a curve of other circles', alg('ES256K')],
  ['RFC 9864 §2.2', 'Ed448', alg('Ed448'), 'ed'],
  ['RFC 9864 §2.2', 'Ed25519 in lower case', alg('ed25519'), 'ed'],
  ['A6', 'an algorithm for encryption', alg('RSA-OAEP'), 'rsa'],
  ['RFC 8725 §2.1', 'the public key as HMAC secret, PEM', confused(spki), 'rsa'],
  [
    'RFC 8725 §2.1',
    'the public key as HMAC secret, PEM without its last line break',
    confused(spki.toString().trim()),
    'rsa',
  ],
  ['RFC 8725 §2.1', 'the public key as HMAC secret, PKCS #1', confused(pkcs1), 'rsa'],
  ['RFC 8725 §2.1', 'the public key as HMAC secret, DER', confused(der), 'rsa'],
  ['RFC 8725 §2.1', 'the public key as HMAC secret, JWK', confused(JSON.stringify(jwk)), 'rsa'],
  [
    'RFC 8725 §2.1',
    'the public key as HMAC secret, modulus',
    confused(Buffer.from(jwk.n ?? '', 'base64url')),
    'rsa',
  ],
  ['RFC 8725 §2.1', 'the public key as HMAC secret, no key id', confused(spki, undefined), 'rsa'],
  ['RFC 8725 §2.2', 'an empty HMAC secret', confused(''), 'rsa'],
  ['A6', 'PS256 by a key that is for RS256', wrong('PS256', 'fixed'), 'fixed'],
  ['A6', 'RS512 by a key that is for RS256', wrong('RS512', 'fixed'), 'fixed'],
  ['RFC 8725 §3.1', 'RS256 with the key id of a curve', wrong('RS256', 'rsa')],
  ['RFC 8725 §3.1', 'ES256 with the key id of an RSA key', wrong('ES256', 'p256'), 'rsa'],
  ['RFC 7518 §3.4', 'ES256 on P-384', wrong('ES256', 'p384'), 'p384'],
  ['RFC 7518 §3.4', 'ES512 on P-256', wrong('ES512', 'p256')],
  ['RFC 8037 §3.1', 'EdDSA with the key id of P-256', wrong('EdDSA', 'ed')],
  ['RFC 9864 §2.2', 'Ed25519 with the key id of P-256', wrong('Ed25519', 'ed')],
  [
    'RFC 8725 §3.1',
    'RS256 where there is only a secret',
    (made) => forge(made, { header: { alg: 'RS256' }, sign: signer('RS256', STRANGERS.rsa.privateKey) }),
    'secret',
  ],
  ['RFC 8725 §3.2', 'alg none where there is only a secret', alg('none'), 'secret'],
];

export const unknownKeys: readonly Row[] = [
  'P256',
  ' p256',
  'p256 ',
  'p25',
  'p2566',
  '',
  '*',
  'rotated-away',
  'constructor',
  '__proto__',
  'toString',
  '0',
  '../../../dev/null',
  '/etc/passwd',
  "' OR '1'='1",
  'p256\u0000',
  'https://attacker.example/jwks',
  'x'.repeat(4096),
].map(
  (kid): Row => [
    kid.includes('/') || kid.includes("'") ? 'RFC 8725 §2.9' : 'A7',
    `the key id ${JSON.stringify(kid.slice(0, 40))}`,
    header({ kid }),
  ],
);
