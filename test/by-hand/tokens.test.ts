import { createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { listen } from '../../test/support/folder.ts';
import { holds } from './holds.ts';

const base64url = (text: string) => Buffer.from(text).toString('base64url');
const exp = Math.floor(Date.now() / 1_000) + 600;

describe('reading a token', () => {
  const key = randomBytes(32);

  function tokenOf(header: string, claims: string, secret = key): string {
    const input = `${base64url(`{"alg":"HS256","typ":"at+jwt"${header}}`)}.${base64url(claims)}`;
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
  }

  /** The claims, verified with every option that makes jose stricter. */
  async function claimsOf(token: string, secret = key) {
    const options = {
      algorithms: ['HS256'],
      typ: 'at+jwt',
      issuer: 'i',
      audience: 'a',
      requiredClaims: ['exp'],
    };
    return (await jwtVerify(token, secret, options)).payload;
  }

  const claims = { iss: 'i', aud: 'a', exp };
  const text = JSON.stringify(claims);

  holds(
    'jose takes a "role" that stands twice',
    () => claimsOf(tokenOf('', text.replace('}', ',"role":"viewer","role":"editor"}'))),
    { ...claims, role: 'editor' },
  );
  holds('jose takes "jku" in a header', () => claimsOf(tokenOf(',"jku":"https://b.example"', text)), claims);
  holds(
    'jose takes an "exp" beyond every number',
    () => claimsOf(tokenOf('', '{"iss":"i","aud":"a","exp":1e999}')),
    { ...claims, exp: Number.POSITIVE_INFINITY },
  );
  holds('jose takes padding behind a signature', () => claimsOf(`${tokenOf('', text)}=`), claims);
  holds(
    'jose takes a secret of five bytes',
    () => claimsOf(tokenOf('', text, Buffer.from('short')), Buffer.from('short')),
    claims,
  );
});

describe('keys of an issuer', () => {
  const pair = () => generateKeyPairSync('ed25519');

  function signedBy(privateKey: KeyObject): string {
    const input = `${base64url('{"alg":"EdDSA","kid":"a"}')}.${base64url(JSON.stringify({ exp }))}`;
    return `${input}.${sign(null, Buffer.from(input), privateKey).toString('base64url')}`;
  }

  /** Runs `work` beside an issuer that publishes the keys of `publish`, with the number of its answers. */
  async function besideIssuer(
    publish: () => KeyObject,
    work: (keys: ReturnType<typeof createRemoteJWKSet>, asked: () => number) => Promise<unknown>,
  ): Promise<unknown> {
    let asked = 0;
    const server = createServer((_, response) => {
      asked += 1;
      const jwk = { ...publish().export({ format: 'jwk' }), kid: 'a' };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [jwk] }));
    });
    const port = await listen(server);
    try {
      return await work(createRemoteJWKSet(new URL(`http://127.0.0.1:${port}/jwks`)), () => asked);
    } finally {
      server.closeAllConnections();
      await once(server.close(), 'close');
    }
  }

  holds(
    'jose gives a promise for a key that it has',
    () =>
      besideIssuer(
        () => pair().publicKey,
        async (keys) => {
          const header = { alg: 'EdDSA', kid: 'a' };
          await keys(header);
          const again = keys(header);
          await again;
          return again instanceof Promise;
        },
      ),
    true,
  );
  holds(
    'jose asks for no key that changes under its "kid", and refuses its tokens',
    () => {
      let current = pair();
      return besideIssuer(
        () => current.publicKey,
        async (keys, asked) => {
          await jwtVerify(signedBy(current.privateKey), keys);
          current = pair();
          const refused = await jwtVerify(signedBy(current.privateKey), keys).catch(({ code }) => code);
          return { refused, asked: asked() };
        },
      );
    },
    { refused: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED', asked: 1 },
  );
});
