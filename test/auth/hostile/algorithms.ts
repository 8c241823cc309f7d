import { forge, type KeyName, mac, privateKey, publicKey, STRANGERS, signer } from '../forge.ts';
import { header, type Row, type Sabotage } from './row.ts';

export function otherAlgorithms(): readonly Row[] {
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
}

export function unknownKeys(): readonly Row[] {
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
