import { createHmac } from 'node:crypto';

/** The trust of a service in tokens, by one HMAC secret. */
export interface Trust {
  readonly issuer: string;
  readonly audience: string;
  readonly secret: Buffer;
}

/** JSON text, or a value to be written as JSON. A text can have members that no value has: `1e999`, duplicates. */
type Part = string | Readonly<Record<string, unknown>>;

/** Makes a compact JWS that the service trusts. Members of `claims` and `header` replace those made here; undefined removes one. */
export type Sign = (claims?: Part, header?: Part) => string;

const hashes: Readonly<Record<string, string>> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' };

/**
 * Signs with `node:crypto` and not with the product's library, so that a mistake shared by both sides cannot hide, and so
 * that tokens can be made which a library refuses to make. `alg` `none` gets an empty signature.
 */
export function signer(trust: Trust): Sign {
  return (claims = {}, header = {}) => {
    const now = Math.floor(Date.now() / 1000);
    const defaults = { sub: 'test', iss: trust.issuer, aud: trust.audience, iat: now, exp: now + 600 };
    const protectedHeader = text({ alg: 'HS256', typ: 'JWT' }, header);
    const signed = `${base64url(protectedHeader)}.${base64url(text(defaults, claims))}`;
    const { alg } = JSON.parse(protectedHeader) as { alg: string };
    if (alg === 'none') return `${signed}.`;
    const mac = createHmac(hashes[alg] ?? 'sha256', trust.secret).update(signed);
    return `${signed}.${mac.digest('base64url')}`;
  };
}

function text(defaults: Readonly<Record<string, unknown>>, part: Part): string {
  return typeof part === 'string' ? part : JSON.stringify({ ...defaults, ...part });
}

function base64url(part: string): string {
  return Buffer.from(part).toString('base64url');
}
