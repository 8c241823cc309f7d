import { fetchDocument } from './fetch-document.ts';

export type DiscoveredKeys =
  | { readonly outcome: 'found'; readonly jwksUri: string }
  | { readonly outcome: 'failed'; readonly reason: string };

/**
 * Where an issuer publishes its keys: OpenID Connect Discovery 1.0 §4, then RFC 8414 §3 for one that has no
 * OpenID document. `issuer` is the setting as it stands, which the document must repeat (§4.3 and §3.3): else
 * one provider could answer for another (RFC 8725 §3.8).
 */
export async function discoverKeys(issuer: string, signal: AbortSignal): Promise<DiscoveredKeys> {
  const first = await fetchDocument(openIdAddress(issuer), signal);
  const fetched = first.outcome === 'absent' ? await fetchDocument(oauthAddress(issuer), signal) : first;
  if (fetched.outcome !== 'fetched') {
    const reasons =
      first === fetched ? [first.reason] : [first.outcome === 'absent' ? first.reason : '', fetched.reason];
    return failed(reasons.join(', '));
  }
  const { document } = fetched;
  if (typeof document !== 'object' || document === null) return failed('the discovery document is no object');
  const named = 'issuer' in document ? document.issuer : undefined;
  if (named !== issuer) {
    return failed(
      `the discovery document must name the issuer ${JSON.stringify(issuer)}, received ${JSON.stringify(named) ?? 'nothing'}`,
    );
  }
  const jwksUri = 'jwks_uri' in document ? document.jwks_uri : undefined;
  if (typeof jwksUri !== 'string') return failed('the discovery document must have a "jwks_uri"');
  return { outcome: 'found', jwksUri };
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

function failed(reason: string): DiscoveredKeys {
  return { outcome: 'failed', reason };
}
