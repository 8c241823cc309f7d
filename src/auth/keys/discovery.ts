import { asNotUsable, NotUsable } from '../../lib/errors.ts';
import { isJsonObject } from '../../lib/parse-json.ts';
import { quote, quoteShort } from '../../lib/quote.ts';
import { type FetchOptions, fetchDocument } from './document.ts';

/**
 * The address at which an issuer publishes its keys: OpenID Connect Discovery 1.0 §4, then RFC 8414 §3 for an issuer
 * without an OpenID document. `issuer` is the setting as it stands, which the document must repeat (§4.3 and §3.3): else
 * one provider could answer for another (RFC 8725 §3.8).
 *
 * @throws {NotUsable} when neither document can be had, or its content cannot be used.
 */
export async function discoverKeys(issuer: string, options: FetchOptions): Promise<string> {
  const document = await fetchDocument(openIdAddress(issuer), options).catch(async (error) => {
    const first = asNotUsable(error);
    if (!first.isMissing) throw first;
    return fetchDocument(oauthAddress(issuer), options).catch((second) => {
      throw new NotUsable(`${first.message}, ${asNotUsable(second).message}`);
    });
  });
  if (!isJsonObject(document)) throw new NotUsable('the discovery document is no object');
  const { issuer: named, jwks_uri: jwksUri } = document;
  if (named !== issuer) {
    const received = named === undefined ? 'nothing' : quoteShort(named);
    throw new NotUsable(`the discovery document must name the issuer ${quote(issuer)}, received ${received}`);
  }
  if (typeof jwksUri !== 'string') throw new NotUsable('the discovery document must have a "jwks_uri"');
  return jwksUri;
}

/** OpenID Connect Discovery 1.0 §4.1: appended to the issuer, whose final slash is dropped. */
function openIdAddress(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

/** RFC 8414 §3.1: between the host and the path of the issuer, whose final slash is dropped. */
function oauthAddress(issuer: string): string {
  const { origin, pathname } = new URL(issuer);
  return `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`;
}
