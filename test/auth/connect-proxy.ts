import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { listen } from '../support/folder.ts';

/** The certificate of what tests ask by TLS, which is its own authority. */
export const CERTIFICATE = fileURLToPath(new URL('tls/test-only-issuer.pem', import.meta.url));

/** The names that it has. */
export const TLS = {
  cert: readFileSync(CERTIFICATE),
  key: readFileSync(new URL('tls/test-only-issuer.key', import.meta.url)),
};

/** Makes this process trust it. */
export function trustTestCertificate(): void {
  setDefaultCACertificates([...getCACertificates('default'), TLS.cert.toString()]);
}

/** What a proxy does with a CONNECT that it has read. */
export type Behaviour = (client: Socket, target: number) => void;

/** Takes every client to the same port, whatever host it has asked for. */
export const takes: Behaviour = takesWith('');

/** The same, with these heads in front of its answer. `isSplit`: each byte of it is a write of its own. */
export function takesWith(heads: string, isSplit = false): Behaviour {
  const answer = `${heads}HTTP/1.1 200 Connection established\r\nX-Proxy: a\r\n\r\n`;
  return (client, target) => {
    const upstream = connect(target, '127.0.0.1', async () => {
      for (const part of isSplit ? answer : [answer]) {
        client.write(part);
        if (isSplit) await setImmediate();
      }
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    // What is piped to nobody any more stands still, and would not end.
    upstream.once('close', () => client.resume());
    client.on('close', () => upstream.destroy());
  };
}

/** Sends these bytes again and again, `everyMs` or as fast as they are taken. */
export function repeats(begin: string, bytes: string, everyMs = 0): Behaviour {
  return (client) => {
    client.write(begin);
    const go = () => {
      if (!client.destroyed) client.write(bytes, () => setImmediate().then(go));
    };
    if (everyMs === 0) return go();
    const timer = setInterval(() => client.write(bytes), everyMs);
    client.once('close', () => clearInterval(timer));
  };
}

/** A proxy for CONNECT alone, on loopback. Owned: `await using`. */
export async function startProxy(target: number, behaviour: Behaviour = takes, { secure = false } = {}) {
  const server = secure ? createTlsServer(TLS) : createServer();
  const asked: { readonly target: string; readonly headers: IncomingMessage['headers'] }[] = [];
  const names: unknown[] = [];
  const open = new Set<Socket>();
  let closedOne = Promise.withResolvers<void>();
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push({ target: request.url ?? '', headers: request.headers });
    if (client instanceof TLSSocket) names.push(Reflect.get(client, 'servername'));
    open.add(client);
    // It would stay half open.
    client
      .on('error', () => {})
      .once('end', () => client.destroy())
      .resume();
    client.once('close', () => {
      open.delete(client);
      closedOne.resolve();
      closedOne = Promise.withResolvers<void>();
    });
    behaviour(client, target);
  });
  const port = await listen(server);
  return {
    port,
    address: new URL(`${secure ? 'https://localhost' : 'http://127.0.0.1'}:${port}`),
    /** What was asked for, in order. */
    asked,
    /** The name that each client wants the certificate of, where the proxy is one of https (RFC 6066 §3). */
    names,
    open,
    /** Waits until its clients have left. */
    async left(): Promise<void> {
      while (open.size > 0) await closedOne.promise;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      for (const client of open) client.destroy();
      await once(server, 'close');
    },
  };
}
