import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describeCertificate, errorCode, NotUsable } from '../../lib/errors.ts';
import { CONNECT } from '../../lib/node-http.ts';
import { parseJson } from '../../lib/parse-json.ts';
import { quoteReceived, quoteShort } from '../../lib/quote.ts';
import { MAX_SET_KIB } from './keys.ts';
import { type HttpProxy, leadsTo, openTunnel } from './proxy.ts';
import { parseTrustedAddress, withoutQuery } from './trusted-address.ts';

export interface FetchOptions {
  /** Bounds the time of all requests, tunnels included. */
  readonly signal: AbortSignal;
  readonly proxy?: HttpProxy | undefined;
}

/** Bytes, both as received and after a content coding is undone. Certificates in a set (`x5c`) are its largest part. */
const MAX_LENGTH = MAX_SET_KIB * 1024;

/** Headers of a request. Keys are fetched so rarely that a kept connection would be dead by then, and a fetch fail. */
const HEADERS = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  connection: 'close',
  // Some firewalls refuse a request without it.
  'user-agent': 'todo-service',
};

/** A JSON document; no redirect leads away from the checked address. @throws {NotUsable} missing: for all but 200. */
export async function fetchDocument(address: string, options: FetchOptions): Promise<unknown> {
  const url = parseTrustedAddress(address);
  if (url === undefined) {
    throw new NotUsable(`${quoteReceived(address)} must begin with "https:", or with "http:" on loopback`);
  }
  const name = withoutQuery(url);
  const noAnswer = (reason: string) => new NotUsable(`${name} did not answer: ${reason}`);
  const { proxy, signal } = options;
  let socket: Socket | undefined;
  if (proxy !== undefined && leadsTo(proxy, url)) {
    socket = await openTunnel(proxy, url, signal).catch((error: unknown) => {
      if (error instanceof NotUsable) throw noAnswer(error.message);
      throw noAnswer(`the proxy: ${reasonOf(error, signal)}`);
    });
  }
  let response: IncomingMessage | undefined;
  let body: Buffer | undefined;
  try {
    response = await ask(url, signal, socket);
    if (response.statusCode !== 200) throw new NotUsable(`${name} answered ${statusOf(response, url)}`, true);
    body = await readBounded(response, name);
  } catch (error) {
    if (error instanceof NotUsable) throw error;
    const certificate = describeCertificate(error, errorCode(error) ?? '');
    throw certificate === undefined
      ? noAnswer(reasonOf(error, signal))
      : new NotUsable(`${name}: ${certificate}`);
  } finally {
    response?.destroy();
    socket?.destroy();
  }
  if (body === undefined) throw new NotUsable(`${name} answered more than ${MAX_SET_KIB} KiB`);
  // The decoder skips a byte order mark.
  const text = new TextDecoder().decode(body);
  const parsed = parseJson(text);
  if ('value' in parsed) return parsed.value;
  const received = /^\s*</.test(text) ? 'a page, as a firewall or a login does, and' : 'something that is';
  throw new NotUsable(`${name} answered ${received} not JSON`);
}

/** The head of an answer. The request has no agent, so that no variable of Node.js sends it through a proxy. */
async function ask(url: URL, signal: AbortSignal, socket: Socket | undefined): Promise<IncomingMessage> {
  const options = { agent: false, headers: HEADERS, signal, ...CONNECT, ...(socket && { socket }) };
  const request =
    url.protocol === 'https:'
      ? process.getBuiltinModule('node:https').get(url, options)
      : process.getBuiltinModule('node:http').get(url, options);
  // The request may emit another error after its first.
  request.on('error', () => {});
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

/** The status of an answer, and where a redirect leads, without its query, which may hold a secret. */
function statusOf({ statusCode, headers: { location = '' } }: IncomingMessage, url: URL): string {
  const target = location === '' ? null : URL.parse(location, url);
  if (target === null) return `${statusCode}`;
  return `${statusCode}, a redirect to ${quoteShort(withoutQuery(target))}, which is not followed`;
}

/** The body, or undefined when it is longer than allowed; the rest is not read. Some servers compress unasked. */
async function readBounded(response: IncomingMessage, name: string): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response) {
    length += chunk.length;
    if (length > MAX_LENGTH) return undefined;
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  // RFC 9110 §8.4.1.3.
  if (!/^(?:x-)?gzip$/i.test(response.headers['content-encoding'] ?? '')) return body;
  try {
    return gunzipSync(body, { maxOutputLength: MAX_LENGTH });
  } catch (error) {
    if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw new NotUsable(`${name} answered gzip that cannot be read: ${errorCode(error)}`);
  }
}

/** The code of a failure alone: messages hold addresses. */
function reasonOf(error: unknown, { aborted, reason }: AbortSignal): string {
  if (aborted && reason instanceof Error && reason.name === 'TimeoutError') return 'it took too long';
  const code = errorCode(error) ?? 'the connection failed';
  return describeCertificate(error, code) ?? code;
}
