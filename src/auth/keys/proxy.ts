import { connect, isIP, isIPv4, type Socket } from 'node:net';
import { NotUsable, orUndefined } from '../../lib/errors.ts';
import { CONNECT } from '../../lib/node-http.ts';
import { isOneAddress } from '../../lib/one-address.ts';
import { quoteScheme } from '../../lib/quote.ts';
import type { Settings } from '../../settings/read.ts';
import { isLoopback } from './trusted-address.ts';

/** The proxy of a company, through which its machines reach an issuer (contract D23). */
export interface HttpProxy {
  /** Of `http` or `https`. Its user and password are secret. */
  readonly address: URL;
  /** The entries of `NO_PROXY`, in lower case. */
  readonly exceptions: readonly string[];
}

/** The proxy in the settings; undefined where none is set, or its address is a fault. */
export function readProxy(settings: Settings): HttpProxy | undefined {
  const text = settings.read('HTTPS_PROXY');
  if (text === undefined) return undefined;
  const exceptions = settings.read('NO_PROXY') ?? '';
  const address = parseProxy(text);
  if (address === undefined) {
    const wanted = 'must be the address of a proxy, like "http://proxy.example:3128"';
    return settings.refuse('HTTPS_PROXY', wanted, quoteScheme(text));
  }
  return { address, exceptions: exceptions.split(',').map((entry) => entry.trim().toLowerCase()) };
}

function parseProxy(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || !isOneAddress(text)) return undefined;
  return orUndefined(() => {
    credentialsOf(url);
    return url;
  });
}

/** Whether an address is asked through the proxy: loopback never is. */
export function leadsTo({ exceptions }: HttpProxy, url: URL): boolean {
  if (isLoopback(url)) return false;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return !exceptions.some((entry) => names(entry, host, url.port || '443'));
}

/** Whether an entry of `NO_PROXY` names a host, as Node.js 26 reads it. */
function names(entry: string, host: string, port: string): boolean {
  if (entry === '*' || entry === host || entry === `${host}:${port}`) return true;
  if (entry.startsWith('.')) return host === entry.slice(1) || host.endsWith(entry);
  if (entry.startsWith('*.')) return host.endsWith(entry.slice(1));
  const [first = '', last = ''] = entry.split('-').map((end) => end.trim());
  if (![host, first, last].every(isIPv4)) return false;
  return numberOf(first) <= numberOf(host) && numberOf(host) <= numberOf(last);
}

function numberOf(ipv4: string): number {
  return ipv4.split('.').reduce((sum, octet) => 256 * sum + Number(octet), 0);
}

/** Characters of one head, as Node.js bounds those that it reads. */
const MAX_HEAD_LENGTH = 16 * 1024;

/** Heads of 1xx that are read past (RFC 9110 §15.2). */
const MAX_INTERIM = 8;

/** A whole head. Its fields mean nothing to a CONNECT (RFC 9110 §9.3.6). */
const HEAD = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [^\r\n]*)?\r?\n(?:[^\r\n]+\r?\n)*\r?\n/;

/**
 * A connection to the host of an `https` address through the proxy (RFC 9110 §9.3.6). Node.js would take the first head
 * for the answer, also one of 1xx.
 *
 * @throws {NotUsable} when the proxy answers anything but a tunnel: a sentence without any part of its address. Any other
 * error is that of the connection.
 */
export async function openTunnel({ address }: HttpProxy, url: URL, signal: AbortSignal): Promise<Socket> {
  const target = `${url.hostname}:${url.port || 443}`;
  const credentials = credentialsOf(address);
  const host = address.hostname.replace(/^\[|\]$/g, '');
  const isSecure = address.protocol === 'https:';
  const options = { host, port: Number(address.port) || (isSecure ? 443 : 80), signal, ...CONNECT };
  // An address is no name (RFC 6066 §3).
  const servername = isIP(host) === 0 ? host : '';
  const socket = isSecure
    ? process.getBuiltinModule('node:tls').connect({ ...options, servername })
    : connect(options);
  // Nothing is said before the certificate of the proxy is verified.
  socket.once(isSecure ? 'secureConnect' : 'connect', () => {
    const authorization = credentials === undefined ? '' : `Proxy-Authorization: ${credentials}\r\n`;
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`);
  });
  try {
    const { status, isWhole } = await readAnswer(socket);
    // The issuer does not speak first.
    if (status >= 200 && status < 300 && isWhole) return socket;
    throw new NotUsable(`the proxy answered ${status}`);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The status of the first head that is not one of 1xx to read past, and whether nothing came behind it. */
function readAnswer(socket: Socket): Promise<{ readonly status: number; readonly isWhole: boolean }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; isWhole: boolean }>();
  let received = '';
  let heads = 0;
  // The listeners stay: the socket may emit another error after its first.
  socket.on('error', reject);
  socket.once('close', () => reject(new NotUsable('the proxy closed the connection')));
  socket.on('data', function read(chunk: Buffer) {
    received += chunk.toString('latin1');
    for (;;) {
      const [head, digits] = HEAD.exec(received) ?? [];
      if ((head ?? received).length > MAX_HEAD_LENGTH)
        return reject(new NotUsable('the proxy answered a head of more than 16 KiB'));
      if (head === undefined) break;
      received = received.slice(head.length);
      heads += 1;
      const status = Number(digits);
      // Behind a 101, which nobody has asked for, is another protocol.
      if (status < 200 && status !== 101 && heads <= MAX_INTERIM) continue;
      socket.off('data', read).pause();
      return resolve({ status, isWhole: received === '' });
    }
    if (!'HTTP/1.'.startsWith(received.slice(0, 7)) || /\n\r?\n/.test(received))
      reject(new NotUsable('the proxy answered something that is not HTTP'));
  });
  return promise;
}

/** The value of `Proxy-Authorization` (RFC 7617 §2). @throws {URIError} when an escape is malformed. */
function credentialsOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}
