import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jwks } from './forge.ts';

/** An issuer on loopback that answers as the test says. The outside network's double. */
export interface FakeIssuer extends AsyncDisposable {
  readonly url: string;
  /** The paths that were asked for, in order. */
  readonly asked: string[];
  /** What it publishes; the test may change it at any time. */
  keys: unknown;
  /** Answers in place of the discovery document and the keys, by path. */
  readonly answers: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
  /** How often the keys were asked for. */
  timesKeysWereAsked(): number;
}

export async function startIssuer(port = 0): Promise<FakeIssuer> {
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    issuer.asked.push(path);
    const answer = issuer.answers.get(path) ?? byDefault(path);
    answer(request, response);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: chosen } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${chosen}`;
  const issuer: FakeIssuer = {
    url,
    asked: [],
    keys: jwks(),
    answers: new Map(),
    timesKeysWereAsked: () => issuer.asked.filter((path) => path === '/jwks').length,
    [Symbol.asyncDispose]: () => close(server),
  };

  function byDefault(path: string) {
    const documents = new Map<string, unknown>([
      ['/.well-known/openid-configuration', { issuer: url, jwks_uri: `${url}/jwks` }],
      ['/jwks', issuer.keys],
    ]);
    return documents.has(path) ? json(documents.get(path)) : status(404);
  }
  return issuer;
}

export function json(document: unknown) {
  return (_request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  };
}

export function status(code: number, headers: Readonly<Record<string, string>> = {}) {
  return (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(code, headers).end();
  };
}

async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}
