import { createHmac, randomUUID } from 'node:crypto';
import { DEVELOPMENT_AUDIENCE, DEVELOPMENT_ISSUER, type DevelopmentKey } from './key.ts';

export interface DevelopmentTokenRequest {
  readonly name: string;
  readonly roles: readonly string[];
  readonly lifetimeSeconds: number;
  /** Claims beyond those that every development token has; these win over none of them. */
  readonly claims: readonly (readonly [string, unknown])[];
}

export interface DevelopmentToken {
  readonly token: string;
  readonly header: Readonly<Record<string, string>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Claims that every development token has. */
export const STANDARD_CLAIMS = ['sub', 'name', 'role', 'iss', 'aud', 'iat', 'nbf', 'exp', 'jti'];

/** A token that a service in development with the same key accepts. `now` in seconds since 1970. */
export function signDevelopmentToken(
  { name, roles, lifetimeSeconds, claims }: DevelopmentTokenRequest,
  key: DevelopmentKey,
  now: number,
): DevelopmentToken {
  const issuedAt = Math.floor(now);
  const header = { alg: 'HS256', typ: 'JWT', kid: key.keyId };
  const all = {
    ...Object.fromEntries(claims),
    sub: name,
    name,
    ...(roles.length > 0 && { role: roles.length === 1 ? roles[0] : roles }),
    iss: DEVELOPMENT_ISSUER,
    aud: DEVELOPMENT_AUDIENCE,
    iat: issuedAt,
    nbf: issuedAt,
    exp: issuedAt + lifetimeSeconds,
    jti: randomUUID(),
  };
  const signingInput = `${encode(header)}.${encode(all)}`;
  const signature = createHmac('sha256', key.secret).update(signingInput).digest('base64url');
  return { token: `${signingInput}.${signature}`, header, claims: all };
}

/** RFC 7515 §2. */
function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
