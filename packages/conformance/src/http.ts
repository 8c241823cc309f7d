import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Milliseconds after which a connection that is not closed counts as unanswered. No test is expected to reach it. */
const PATIENCE_MS = 20_000;

/** Bytes of all answers on a connection, at most. More than any list that a test service has. */
const MAX_LENGTH = 128 * 1024 * 1024;

/** An exchange that took too long, cut off by this client. */
class CutOff extends Error {}

/** One response, byte by byte as it came: no redirect followed, nothing decoded but the framing. */
export interface Reply {
  readonly status: number;
  /** Name in lower case and value, in the order received; a repeated header is there twice. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** The value of a header, several lines joined by `, `; undefined when it is absent. */
export function header(reply: Reply, name: string): string | undefined {
  const values = reply.headers.filter(([known]) => known === name.toLowerCase()).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(', ');
}

/** The body as JSON, decoded strictly as UTF-8. */
export function json(reply: Reply): unknown {
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(reply.body));
}

/**
 * Writes these bytes on a new connection and reads until the service closes it, so that an extra byte after a response is
 * seen. The last request must therefore ask for `Connection: close`, or be refused with a close.
 *
 * @param methods of the requests in these bytes, as far as their responses have no body: `HEAD`.
 * @throws Error when the connection fails or the answer is not HTTP/1.1.
 */
export async function exchange(
  baseUrl: URL,
  bytes: string | Buffer,
  methods: readonly string[] = [],
): Promise<Reply[]> {
  const socket = await open(baseUrl);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const received: Buffer[] = [];
  let failure: Error | undefined;
  socket.on('data', (chunk: Buffer) => {
    received.push(chunk);
    if (socket.bytesRead > MAX_LENGTH) socket.destroy(new CutOff(`more than ${MAX_LENGTH} bytes`));
  });
  socket.on('error', (error) => {
    failure = error;
  });
  socket.on('close', () => {
    // A reset after a whole answer is a hasty close of the other side, not a missing answer.
    if (failure !== undefined && (failure instanceof CutOff || received.length === 0)) reject(failure);
    else resolve(Buffer.concat(received));
  });
  socket.write(bytes);
  return parseReplies(await promise, methods).filter(({ status }) => status >= 200);
}

/** A connected socket to the origin of `baseUrl`. It is cut off when it is not closed in time. */
async function open(baseUrl: URL): Promise<Socket> {
  const secure = baseUrl.protocol === 'https:';
  const host = baseUrl.hostname.replace(/^\[|\]$/g, '');
  const port = Number(baseUrl.port || (secure ? 443 : 80));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Names of servers are no addresses (RFC 6066 §3).
  const named = isIP(host) === 0 ? { servername: host } : {};
  const socket = secure ? connectTls({ host, port, ...named }, resolve) : connectTcp({ host, port }, resolve);
  const cutting = setTimeout(
    () => socket.destroy(new CutOff(`no answer within ${PATIENCE_MS} ms`)),
    PATIENCE_MS,
  );
  socket.once('close', () => clearTimeout(cutting));
  socket.once('error', reject);
  await promise;
  socket.off('error', reject);
  return socket;
}

/**
 * Every response in the bytes of a connection, interim ones included.
 *
 * @param methods of the requests, as far as their responses have no body: `HEAD`.
 * @throws Error when a byte is missing, or belongs to no response.
 */
export function parseReplies(bytes: Buffer, methods: readonly string[] = []): Reply[] {
  const replies: Reply[] = [];
  let finals = 0;
  let rest = bytes;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1)
      throw new Error(`response without end of head: ${rest.subarray(0, 200).toString('latin1')}`);
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) throw new Error(`not a status line: ${statusLine}`);
    const headers = lines.map(parseHeader);
    const bodiless = methods[finals] === 'HEAD' || status < 200 || status === 204 || status === 304;
    const [body, after] = bodiless
      ? [Buffer.alloc(0), rest.subarray(end + 4)]
      : parseBody(headers, rest.subarray(end + 4));
    replies.push({ status, headers, body });
    if (status >= 200) finals += 1;
    rest = after;
  }
  return replies;
}

function parseHeader(line: string): readonly [string, string] {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line);
  if (match === null) throw new Error(`not a header line: ${line}`);
  return [String(match[1]).toLowerCase(), String(match[2])];
}

function parseBody(headers: Reply['headers'], bytes: Buffer): readonly [body: Buffer, after: Buffer] {
  const values = new Map(headers);
  if (values.get('transfer-encoding') === 'chunked') return parseChunks(bytes);
  const length = values.get('content-length');
  if (length === undefined) return [bytes, Buffer.alloc(0)];
  if (!(bytes.length >= Number(length)))
    throw new Error(`body of ${bytes.length} bytes, announced ${length}`);
  return [bytes.subarray(0, Number(length)), bytes.subarray(Number(length))];
}

function parseChunks(bytes: Buffer): readonly [body: Buffer, after: Buffer] {
  const chunks: Buffer[] = [];
  let position = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', position);
    if (lineEnd === -1) throw new Error('response ends within its chunks');
    const line = bytes.subarray(position, lineEnd).toString('latin1');
    const [, digits] = /^([0-9a-f]{1,8})[ \t]*(?:;|$)/i.exec(line) ?? [];
    if (digits === undefined) throw new Error(`not the size of a chunk: ${line.slice(0, 200)}`);
    const size = Number.parseInt(digits, 16);
    const start = lineEnd + 2;
    if (size === 0) return [Buffer.concat(chunks), bytes.subarray(start + 2)];
    chunks.push(bytes.subarray(start, start + size));
    position = start + size + 2;
  }
}
