import { parseJson } from '../../parse-json.ts';
import { quoteReceived } from '../../quote-address.ts';
import { parseTrustedAddress } from './address.ts';
import { type Failed, failed } from './failed.ts';
import { errorCode } from './small-file.ts';

export type FetchedDocument =
  | { readonly outcome: 'fetched'; readonly document: unknown }
  /** The server answered, but not with 200. */
  | { readonly outcome: 'absent'; readonly reason: string }
  | Failed;

/** Bytes, after content codings are undone. Discovery documents and key sets have a few thousand. */
const MAX_LENGTH = 64 * 1024;

/** Keys are fetched so rarely that a connection kept for them would be dead by the next time, and that fetch fail. */
const HEADERS = { accept: 'application/json', connection: 'close' };

/**
 * A JSON document from an issuer: over `https`, or `http` on loopback; without redirects, which would lead away
 * from the address that was checked. The caller bounds the time with `signal`.
 */
export async function fetchDocument(address: string, signal: AbortSignal): Promise<FetchedDocument> {
  const url = parseTrustedAddress(address);
  if (url === undefined) {
    return failed(`${quoteReceived(address)} must begin with "https:", or with "http:" on loopback`);
  }
  const name = withoutQuery(url);
  let text: string | undefined;
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      signal,
      headers: HEADERS,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      return { outcome: 'absent', reason: `${name} answered ${response.status}` };
    }
    text = await readBounded(response);
  } catch (error) {
    return failed(`${name} did not answer: ${describeFailure(error)}`);
  }
  if (text === undefined) return failed(`${name} answered more than 64 KiB`);
  const parsed = parseJson(text);
  return 'value' in parsed
    ? { outcome: 'fetched', document: parsed.value }
    : failed(`${name} answered something that is not JSON`);
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
