import { constants, createHash, type KeyObject, sign } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import {
  AUDIENCE,
  type Draft,
  draft,
  encode,
  forge,
  ISSUER,
  jwkOf,
  type KeyName,
  mac,
  privateKey,
  publicKey,
  SECRET,
  STRANGERS,
  signer,
} from './forge.ts';

/** A token that must be refused, and its twin without the fault that must be accepted. */
export interface Hostile {
  /** What it breaks: a row of the contract or a section of a standard. */
  readonly rule: string;
  readonly what: string;
  /** The `error_description`, so that no token is refused for another reason than its fault. */
  readonly says: string | RegExp;
  readonly twin: string;
  readonly token: string;
  /** Which configuration looks at it. */
  readonly keys: 'issuer' | 'secret';
}

const FORM = 'The token is not a signed token in compact form';
const HEADER = 'The header of the token cannot be read';
const PARAMETER = 'The header of the token has a parameter that is not accepted';
const KIND = 'The token is of a kind that is not accepted';
const ALGORITHM = 'The algorithm of the token is not accepted';
const CLAIMS = 'The claims of the token cannot be read';
const UNKNOWN_KEY = 'The key of the token is unknown';
const SIGNATURE = 'The signature of the token is invalid';
const ISSUED_BY = 'The issuer of the token is not accepted';
const AUDIENCE_OTHER = 'The token is for another audience';
const NO_EXPIRATION = 'The token has no expiration time';
const NO_NUMBER = 'The token has a time that is not a number';
const EXPIRED = /^The token expired at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const TOO_EARLY = /^The token is not valid before \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Makes the hostile token from the draft of its twin. */
type Sabotage = (made: Draft) => string;

type Row = readonly [rule: string, what: string, sabotage: Sabotage, key?: KeyName | 'secret', twin?: Draft];

/** All of them. Made when called, because their times are those of the clock. */
export function hostileTokens(): readonly Hostile[] {
  return GROUPS.flatMap(([says, rows]) =>
    rows().map(([rule, what, sabotage, key = 'p256', made = draft(key)]) => ({
      rule,
      what,
      says,
      twin: forge(made),
      token: sabotage(made),
      keys: key === 'secret' ? 'secret' : 'issuer',
    })),
  );
}

const GROUPS: readonly (readonly [string | RegExp, () => readonly Row[]])[] = [
  [FORM, brokenForms],
  ['The token is longer than 12 KiB', tooLong],
  [HEADER, brokenHeaders],
  [PARAMETER, refusedParameters],
  [KIND, otherKinds],
  [ALGORITHM, otherAlgorithms],
  [UNKNOWN_KEY, unknownKeys],
  [SIGNATURE, brokenSignatures],
  [CLAIMS, brokenClaims],
  [ISSUED_BY, otherIssuers],
  [AUDIENCE_OTHER, otherAudiences],
  [NO_EXPIRATION, missingExpirations],
  [NO_NUMBER, brokenTimes],
  [EXPIRED, expired],
  ['The token expired', expiredBeforeDates],
  [TOO_EARLY, tooEarly],
  ['The token was issued in the future', issuedLater],
];

/** The token as text, changed after it was put together. */
function text(change: (token: string, segments: readonly [string, string, string]) => string): Sabotage {
  return (made) => {
    const token = forge(made);
    const [header = '', payload = '', signature = ''] = token.split('.');
    return change(token, [header, payload, signature]);
  };
}

function header(members: Readonly<Record<string, unknown>>): Sabotage {
  return (made) => forge(made, { header: { ...made.header, ...members } });
}

function claims(members: Readonly<Record<string, unknown>>): Sabotage {
  return (made) => forge(made, { claims: { ...made.claims, ...members } });
}

/** The claims as JSON text with one member more, in a spelling that no value has. */
function claimsText(member: string, without: string[] = []): Sabotage {
  return (made) => {
    const kept = Object.entries(made.claims).filter(([name]) => !without.includes(name));
    return forge(made, { claims: `${JSON.stringify(Object.fromEntries(kept)).slice(0, -1)},${member}}` });
  };
}

/** The same bytes by a lenient decoder: bits behind the last byte are set. */
function strayBits(segment: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet[alphabet.indexOf(segment.at(-1) ?? '') | 1] ?? '';
  return `${segment.slice(0, -1)}${last}`;
}

function brokenForms(): readonly Row[] {
  const withName = (name: string) => {
    const made = draft();
    return { ...made, claims: { ...made.claims, name } };
  };
  const ragged = withName('x'.repeat(encode(withName('').claims).length % 4 === 0 ? 1 : 0));
  const urlSafe = withName('\u00fb\u00ff~~~???>>>');
  return [
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
}

function tooLong(): readonly Row[] {
  const made = draft();
  const room = 12 * 1024 - forge({ ...made, claims: { ...made.claims, pad: '' } }).length;
  const full = { ...made, claims: { ...made.claims, pad: 'x'.repeat(Math.floor((room * 3) / 4) - 4) } };
  return [
    ['A5', '12 KiB and more, well signed', claims({ pad: 'x'.repeat(9500) }), 'p256', full],
    ['A5', '12 KiB of signature', text((token) => token + 'A'.repeat(12 * 1024))],
  ];
}

function brokenHeaders(): readonly Row[] {
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
    ['RFC 7515 §4', 'the key id twice', changed((json) => `{"kid":"p256",${json.slice(1)}`)],
    ['RFC 7515 §4.1.4', 'a key id that is a number', header({ kid: 256 })],
    ['RFC 7515 §4.1.4', 'a key id that is null', header({ kid: null })],
    ['RFC 7515 §4.1.4', 'a key id that is a list', header({ kid: ['p256'] })],
    ['RFC 7515 §4.1.4', 'a key id that is an object', header({ kid: { p256: true } })],
  ];
}

function refusedParameters(): readonly Row[] {
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

function otherKinds(): readonly Row[] {
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

function otherAlgorithms(): readonly Row[] {
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
  return [
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
    ['A6', 'Ed25519 by its other name', alg('Ed25519'), 'ed'],
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
    [
      'RFC 8725 §3.1',
      'RS256 where there is only a secret',
      (made) => forge(made, { header: { alg: 'RS256' }, sign: signer('RS256', STRANGERS.rsa.privateKey) }),
      'secret',
    ],
    ['RFC 8725 §3.2', 'alg none where there is only a secret', alg('none'), 'secret'],
  ];
}

function unknownKeys(): readonly Row[] {
  const ids = [
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
  ];
  return ids.map((kid) => [
    kid.includes('/') || kid.includes("'") ? 'RFC 8725 §2.9' : 'A7',
    `the key id ${JSON.stringify(kid.slice(0, 40))}`,
    header({ kid }),
  ]);
}

function brokenSignatures(): readonly Row[] {
  const bytes =
    (change: (signature: Buffer, input: string) => Buffer): Sabotage =>
    (made) =>
      forge(made, { sign: (input) => change(made.sign(input), input) });
  const by =
    (key: KeyObject, alg: string): Sabotage =>
    (made) =>
      forge(made, { sign: signer(alg, key) });
  const rsaAs = (hash: string, input: string) => sign(hash, Buffer.from(input), privateKey('rsa'));
  const pss =
    (saltLength: number): Sabotage =>
    (made) =>
      forge(made, {
        header: { ...made.header, alg: 'PS256' },
        sign: (input) =>
          sign('sha256', Buffer.from(input), {
            key: privateKey('rsa'),
            padding: constants.RSA_PKCS1_PSS_PADDING,
            saltLength,
          }),
      });
  const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');
  const one = Buffer.alloc(32);
  one[31] = 1;
  const reader = (made: Draft): Draft => ({ ...made, claims: { ...made.claims, role: 'reader' } });
  return [
    [
      'RFC 8725 §3.3',
      'claims changed after signing',
      (made) => swapClaims(forge(reader(made)), encode(made.claims)),
    ],
    [
      'RFC 8725 §3.3',
      'a header changed after signing',
      text((_, [, p, s]) => `${encode({ alg: 'ES256', kid: 'p256' })}.${p}.${s}`),
    ],
    [
      'RFC 8725 §3.3',
      'the signature of another token',
      (made) =>
        forge(made, { sign: () => Buffer.from(forge(reader(made)).split('.')[2] ?? '', 'base64url') }),
    ],
    ['RFC 8725 §3.3', 'a stranger with the same key id, ES256', by(STRANGERS.p256.privateKey, 'ES256')],
    ['RFC 8725 §3.3', 'a stranger with the same key id, RS256', by(STRANGERS.rsa.privateKey, 'RS256'), 'rsa'],
    ['RFC 8725 §3.3', 'a stranger with the same key id, EdDSA', by(STRANGERS.ed.privateKey, 'EdDSA'), 'ed'],
    ['A7', 'another key of the set', by(privateKey('fixed'), 'RS256'), 'rsa'],
    [
      'RFC 8725 §3.3',
      'one bit of the signature',
      bytes((s) => Buffer.concat([s.subarray(0, -1), Buffer.from([(s.at(-1) ?? 0) ^ 1])])),
    ],
    ['RFC 8725 §3.3', 'a signature cut short', bytes((s) => s.subarray(0, -3))],
    ['RFC 8725 §3.3', 'a signature of one byte', bytes((s) => s.subarray(0, 1))],
    ['RFC 8725 §3.3', 'a signature with more behind it', bytes((s) => Buffer.concat([s, Buffer.alloc(3)]))],
    ['RFC 8725 §3.4', 'ES256 with r and s of zero', bytes(() => Buffer.alloc(64))],
    ['RFC 8725 §3.4', 'ES256 with r of the order and s of one', bytes(() => Buffer.concat([order, one]))],
    ['RFC 8725 §3.4', 'ES256 with r and s of the order', bytes(() => Buffer.concat([order, order]))],
    [
      'RFC 7518 §3.4',
      'ES256 in DER',
      bytes((_, input) => sign('sha256', Buffer.from(input), privateKey('p256'))),
    ],
    [
      'RFC 7518 §3.4',
      'ES256 with r and s exchanged',
      bytes((s) => Buffer.concat([s.subarray(32), s.subarray(0, 32)])),
    ],
    [
      'RFC 7518 §3.4',
      'ES256 over another hash',
      bytes((_, input) =>
        sign('sha512', Buffer.from(input), { key: privateKey('p256'), dsaEncoding: 'ieee-p1363' }),
      ),
    ],
    ['RFC 8037 §3.1', 'EdDSA of zeros', bytes(() => Buffer.alloc(64)), 'ed'],
    ['RFC 8032 §5.1.7', 'EdDSA with S above the order', bytes(addEd25519Order), 'ed'],
    ['RFC 8725 §3.2', 'RS256 over SHA-1', bytes((_, input) => rsaAs('sha1', input)), 'rsa'],
    ['RFC 8725 §3.1', 'RS256 over SHA-512', bytes((_, input) => rsaAs('sha512', input)), 'rsa'],
    ['RFC 8725 §3.3', 'RS256 of zero', bytes(() => Buffer.alloc(256)), 'rsa'],
    [
      'RFC 8725 §3.3',
      'RS256 of one',
      bytes(() => Buffer.concat([Buffer.alloc(255), Buffer.from([1])])),
      'rsa',
    ],
    ['RFC 8725 §3.1', 'PS256 that is RS256', header({ alg: 'PS256' }), 'rsa'],
    ['RFC 7518 §3.5', 'PS256 without salt', pss(0), 'rsa'],
    ['RFC 7518 §3.5', 'PS256 with too much salt', pss(64), 'rsa'],
    [
      'RFC 8725 §3.3',
      'a MAC with another secret',
      (made) => forge(made, { sign: mac('sha256', Buffer.alloc(64)) }),
      'secret',
    ],
    [
      'RFC 8725 §2.2',
      'a MAC with an empty secret',
      (made) => forge(made, { sign: mac('sha256', '') }),
      'secret',
    ],
    [
      'RFC 8725 §2.2',
      'a MAC with the secret in base64',
      (made) => forge(made, { sign: mac('sha256', SECRET.toString('base64')) }),
      'secret',
    ],
    [
      'RFC 8725 §2.2',
      'a MAC with the secret and a line break',
      (made) => forge(made, { sign: mac('sha256', Buffer.concat([SECRET, Buffer.from('\n')])) }),
      'secret',
    ],
    ['RFC 7518 §3.2', 'half of a MAC', bytes((s) => s.subarray(0, 16)), 'secret'],
    ['RFC 7518 §3.2', 'HS512 with a MAC of HS256', header({ alg: 'HS512' }), 'secret'],
    [
      'RFC 7518 §3.2',
      'a hash for a MAC',
      bytes((_, input) => createHash('sha256').update(input).digest()),
      'secret',
    ],
  ];
}

function swapClaims(token: string, payload: string): string {
  const [head = '', , signature = ''] = token.split('.');
  return `${head}.${payload}.${signature}`;
}

/** RFC 8032 §5.1: L = 2^252 + 27742317777372353535851937790883648493, little endian. S + L is the same scalar. */
function addEd25519Order(signature: Buffer): Buffer {
  const order = (1n << 252n) + 27742317777372353535851937790883648493n;
  const scalar = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + order;
  const hex = scalar.toString(16).padStart(64, '0');
  return Buffer.concat([signature.subarray(0, 32), Buffer.from(hex, 'hex').reverse()]);
}

function brokenClaims(): readonly Row[] {
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

function otherIssuers(): readonly Row[] {
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

function otherAudiences(): readonly Row[] {
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

function missingExpirations(): readonly Row[] {
  return [
    ['A5', 'no exp', claims({ exp: undefined })],
    ['A5', 'an inherited exp', claimsText('"__proto__":{"exp":9999999999}', ['exp'])],
    ['A5', 'Exp', claimsText('"Exp":9999999999', ['exp'])],
  ];
}

function brokenTimes(): readonly Row[] {
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

function expired(): readonly Row[] {
  const now = Math.floor(Date.now() / 1000);
  return [
    ['RFC 7519 §4.1.4', 'expired an hour ago', claims({ exp: now - 3600 })],
    ['A8', 'expired longer ago than the tolerance', claims({ exp: now - 31 })],
    ['RFC 7519 §4.1.4', 'expired in 1970', claims({ exp: 0 })],
    ['RFC 7519 §4.1.4', 'expired by a fraction', claims({ exp: now - 30.5 })],
    ['RFC 7519 §4.1.4', 'a secret, expired', claims({ exp: now - 3600 }), 'secret'],
  ];
}

function expiredBeforeDates(): readonly Row[] {
  return [
    ['RFC 7519 §4.1.4', 'expired before 1970', claims({ exp: -1 })],
    ['RFC 7519 §4.1.4', 'expired before there were dates', claims({ exp: -1e300 })],
  ];
}

function tooEarly(): readonly Row[] {
  const now = Math.floor(Date.now() / 1000);
  return [
    ['RFC 7519 §4.1.5', 'valid in an hour', claims({ nbf: now + 3600 })],
    ['A8', 'valid later than the tolerance', claims({ nbf: now + 300 })],
    ['RFC 7519 §4.1.5', 'valid in the year 9999', claims({ nbf: 253402300799 })],
  ];
}

function issuedLater(): readonly Row[] {
  const now = Math.floor(Date.now() / 1000);
  return [
    ['RFC 7519 §4.1.6', 'issued in an hour', claims({ iat: now + 3600 })],
    ['A8', 'issued later than the tolerance', claims({ iat: now + 300 })],
    ['RFC 7519 §4.1.6', 'issued when there are no more dates', claims({ iat: 1e300 })],
  ];
}
