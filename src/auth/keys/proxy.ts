import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4, type Socket } from 'node:net';
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
    // Neither host nor credentials: only the scheme, where the text certainly has one.
    const scheme = /^\s*[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0] ?? '';
    const wanted = 'must be the address of a proxy, like "http://proxy.example:3128"';
    settings.refuse('HTTPS_PROXY', wanted, JSON.stringify(`${scheme}…`));
    return undefined;
  }
  return { address, exceptions: exceptions.split(',').map((entry) => entry.trim().toLowerCase()) };
}

function parseProxy(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  try {
    credentialsOf(url);
    return url;
  } catch {
    return undefined;
  }
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

/**
 * A connection to the host of an `https` address through the proxy (RFC 9110 §9.3.6), or the reason why there is none,
 * without any part of the proxy's address. The agents of Node.js are not used: no signal ends their tunnels, and in 24.15
 * the head of an answer to them has no limit.
 */
export async function openTunnel(
  { address }: HttpProxy,
  url: URL,
  signal: AbortSignal,
): Promise<Socket | { readonly failure: unknown } | { readonly status: number }> {
  const { request } = process.getBuiltinModule(address.protocol === 'https:' ? 'node:https' : 'node:http');
  const target = `${url.hostname}:${url.port || 443}`;
  const credentials = credentialsOf(address);
  const host = address.hostname.replace(/^\[|\]$/g, '');
  const asking = request({
    agent: false,
    host,
    // Without it Node.js takes the name in `Host`, which is the issuer's. An address is no name (RFC 6066 §3).
    servername: isIP(host) === 0 ? host : '',
    port: address.port || (address.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: target,
    headers: { host: target, ...(credentials && { 'proxy-authorization': credentials }) },
    signal,
  });
  // The request may emit another error after its first.
  asking.on('error', () => {}).end();
  try {
    const [response, socket, head]: [IncomingMessage, Socket, Buffer] = (await once(asking, 'connect')) as [
      IncomingMessage,
      Socket,
      Buffer,
    ];
    socket.on('error', () => {});
    const status = response.statusCode ?? 0;
    // The issuer does not speak first.
    if (status >= 200 && status < 300 && head.length === 0) return socket;
    socket.destroy();
    return { status };
  } catch (failure) {
    return { failure };
  }
}

/** The value of `Proxy-Authorization` (RFC 7617 §2). @throws {URIError} when an escape is malformed. */
function credentialsOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}
