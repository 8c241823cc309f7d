import { asNotUsable, errorCode, NotUsable } from '../../files.ts';
import { parseJson } from '../../parse-json.ts';
import { quoteReceived } from '../../quote.ts';

const LOOPBACK_IPV4 = /^127\.[0-9]+\.[0-9]+\.[0-9]+$/;

/**
 * An address that keys may come from: `https`, or plain `http` to this very machine, without user, password
 * or fragment. Undefined for anything else.
 */
export function parseTrustedAddress(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return undefined;
  const plain = url.protocol === 'http:' && isLoopback(url.hostname);
  return url.protocol === 'https:' || plain ? url : undefined;
}

/** 127.0.0.0/8, ::1 and the name that RFC 6761 §6.3 keeps for them. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || LOOPBACK_IPV4.test(hostname);
}

/** Bytes, after content codings are undone. Discovery documents and key sets have a few thousand. */
const MAX_LENGTH = 64 * 1024;

/** Keys are fetched so rarely that a connection kept for them would be dead by the next time, and that fetch fail. */
const HEADERS = { accept: 'application/json', connection: 'close' };

/**
 * A JSON document from an issuer: over `https`, or `http` on loopback; without redirects, which would lead away
 * from the address that was checked. The caller bounds the time with `signal`.
 *
 * @throws {NotUsable} when it cannot be had; missing, when the server answers, but not with 200.
 */
export async function fetchDocument(address: string, signal: AbortSignal): Promise<unknown> {
  const url = parseTrustedAddress(address);
  if (url === undefined) {
    throw new NotUsable(`${quoteReceived(address)} must begin with "https:", or with "http:" on loopback`);
  }
  const name = withoutQuery(url);
  let text: string | undefined;
  try {
    const response = await fetch(url, { redirect: 'manual', signal, headers: HEADERS });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new NotUsable(`${name} answered ${response.status}`, true);
    }
    text = await readBounded(response);
  } catch (error) {
    if (error instanceof NotUsable) throw error;
    throw new NotUsable(`${name} did not answer: ${describeFailure(error)}`);
  }
  if (text === undefined) throw new NotUsable(`${name} answered more than 64 KiB`);
  const parsed = parseJson(text);
  if ('fault' in parsed) throw new NotUsable(`${name} answered something that is not JSON`);
  return parsed.value;
}

/** For messages: a query may hold what is not for everybody. */
export function withoutQuery({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

/** The body as text, or undefined when it is longer than allowed; the rest is not read. */
async function readBounded(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MAX_LENGTH) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** `fetch` puts what went wrong on the network into `cause`. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'it took too long';
  return errorCode(error.cause) ?? (error.cause instanceof Error ? error.cause.message : error.message);
}

/** Characters of somebody else's issuer in a message. */
const MAX_QUOTED = 200;

/**
 * Where an issuer publishes its keys: OpenID Connect Discovery 1.0 §4, then RFC 8414 §3 for one that has no
 * OpenID document. `issuer` is the setting as it stands, which the document must repeat (§4.3 and §3.3): else
 * one provider could answer for another (RFC 8725 §3.8).
 *
 * @throws {NotUsable} when neither document can be had, or what it says cannot be used.
 */
export async function discoverKeys(issuer: string, signal: AbortSignal): Promise<string> {
  const document = await fetchDocument(openIdAddress(issuer), signal).catch(async (error) => {
    const first = asNotUsable(error);
    if (!first.isMissing) throw first;
    return fetchDocument(oauthAddress(issuer), signal).catch((second) => {
      throw new NotUsable(`${first.message}, ${asNotUsable(second).message}`);
    });
  });
  if (typeof document !== 'object' || document === null) {
    throw new NotUsable('the discovery document is no object');
  }
  const { issuer: named, jwks_uri: jwksUri }: Readonly<Record<string, unknown>> = { ...document };
  if (named !== issuer) {
    throw new NotUsable(
      `the discovery document must name the issuer ${JSON.stringify(issuer)}, received ${quoteIssuer(named)}`,
    );
  }
  if (typeof jwksUri !== 'string') throw new NotUsable('the discovery document must have a "jwks_uri"');
  return jwksUri;
}

/** Another value than a string may be nested too deeply for `JSON.stringify`. */
function quoteIssuer(named: unknown): string {
  if (named === undefined) return 'nothing';
  return typeof named === 'string' ? JSON.stringify(named.slice(0, MAX_QUOTED)) : 'no string';
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
