import { type Failed, failed } from './failed.ts';
import { fetchDocument } from './fetch-document.ts';

/** Characters of somebody else's issuer in a message. */
const MAX_QUOTED = 200;

/**
 * Where an issuer publishes its keys: OpenID Connect Discovery 1.0 §4, then RFC 8414 §3 for one that has no
 * OpenID document. `issuer` is the setting as it stands, which the document must repeat (§4.3 and §3.3): else
 * one provider could answer for another (RFC 8725 §3.8).
 */
export async function discoverKeys(issuer: string, signal: AbortSignal): Promise<string | Failed> {
  const first = await fetchDocument(openIdAddress(issuer), signal);
  const fetched = first.outcome === 'absent' ? await fetchDocument(oauthAddress(issuer), signal) : first;
  if (fetched.outcome !== 'fetched') {
    return failed(first.outcome === 'absent' ? `${first.reason}, ${fetched.reason}` : fetched.reason);
  }
  const { document } = fetched;
  if (typeof document !== 'object' || document === null) return failed('the discovery document is no object');
  const named = 'issuer' in document ? document.issuer : undefined;
  if (named !== issuer) {
    return failed(
      `the discovery document must name the issuer ${JSON.stringify(issuer)}, received ${quoteIssuer(named)}`,
    );
  }
  const jwksUri = 'jwks_uri' in document ? document.jwks_uri : undefined;
  return typeof jwksUri === 'string' ? jwksUri : failed('the discovery document must have a "jwks_uri"');
}

/** Another value than a string may be nested too deeply for `JSON.stringify`. */
function quoteIssuer(named: unknown): string {
  if (named === undefined) return 'nothing';
  return typeof named === 'string' ? JSON.stringify(named.slice(0, MAX_QUOTED)) : 'no string';
}

/** OpenID Connect Discovery 1.0 §4.1: appended to the issuer, whose final slash is dropped. */
export function openIdAddress(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

/** RFC 8414 §3.1: between the host and the path of the issuer, whose final slash is dropped. */
export function oauthAddress(issuer: string): string {
  const { origin, pathname } = new URL(issuer);
  return `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`;
}
