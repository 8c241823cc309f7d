import { constants, createHash, type KeyObject, sign } from 'node:crypto';
import { type Draft, encode, forge, mac, privateKey, SECRET, STRANGERS, signer } from '../forge.ts';
import { header, type Row, type Sabotage, text } from './row.ts';

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

export const brokenSignatures: readonly Row[] = [
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
    (made) => forge(made, { sign: () => Buffer.from(forge(reader(made)).split('.')[2] ?? '', 'base64url') }),
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
  ['RFC 8725 §3.3', 'RS256 of one', bytes(() => Buffer.concat([Buffer.alloc(255), Buffer.from([1])])), 'rsa'],
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
