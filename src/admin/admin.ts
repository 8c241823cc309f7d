import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { createStrictServer, LIMITS, type Receive } from '../http/transport/server.ts';
import { PROBLEM_JSON, type Problem, problemBody } from '../problem/problem.ts';
import { traceIdOf } from '../problem/trace-id.ts';
import { AdminNotOpened } from './admin-not-opened.ts';

/** What the admin listener can tell. */
export interface AdminParts {
  readonly host: string;
  /** 0 to 65535; 0 picks a free port. */
  readonly port: number;
  /** True when requests can be answered, else why not, for people. Never rejects. */
  readonly ready: () => Promise<true | string>;
  readonly metrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
  readonly version: Readonly<Record<string, string>>;
  readonly log: Logger;
}

/** A listener for operators, on a port of its own. Its errors are problems, always JSON. */
export interface Admin extends AsyncDisposable {
  /** For example `http://127.0.0.1:9090`. */
  readonly url: string;
}

/** Operators, probes and Prometheus need few connections. */
const MAX_CONNECTIONS = 100;

/** A page: status 200 and its content, or a problem. */
type Page = () => Promise<Content | Problem>;

interface Content {
  readonly type: string;
  readonly text: string;
}

/**
 * Opens the admin listener.
 *
 * @throws {AdminNotOpened} when the port cannot be had.
 */
export async function openAdmin({ host, port, ready, metrics, version, log }: AdminParts): Promise<Admin> {
  const pages: ReadonlyMap<string, Page> = new Map<string, Page>([
    ['/live', async () => json({ status: 'live' })],
    [
      '/ready',
      async () => {
        const answer = await ready();
        return answer === true ? json({ status: 'ready' }) : { status: 503, detail: answer };
      },
    ],
    [
      '/metrics',
      async () => {
        const { text, contentType } = await metrics();
        return { type: contentType, text };
      },
    ],
    ['/version', async () => json(version)],
  ]);
  const receive: Receive = (request, response) => {
    request.resume();
    answer(pages.get(request.url ?? ''), request)
      .catch((err): Problem => {
        log.error({ event: 'admin-failed', path: request.url, err }, 'the admin listener failed');
        return { status: 500 };
      })
      .then((result) => write(request, response, result));
  };
  const limits = { ...LIMITS, maxConnections: MAX_CONNECTIONS };
  const { server } = createStrictServer(receive, { limits });
  server.listen(port, host);
  await once(server, 'listening').catch((cause: Error) => {
    throw new AdminNotOpened(`cannot listen on ${host} port ${port}: ${cause.message}`, { cause });
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(page: Page | undefined, { method }: IncomingMessage): Promise<Content | Problem> {
  if (page === undefined) return { status: 404 };
  return method === 'GET' || method === 'HEAD' ? page() : { status: 405 };
}

function json(value: object): Content {
  return { type: 'application/json; charset=utf-8', text: JSON.stringify(value) };
}

function write(request: IncomingMessage, response: ServerResponse, result: Content | Problem): void {
  const isProblem = 'status' in result;
  const body = isProblem ? problemBody(result, traceIdOf(request)) : result.text;
  response.writeHead(isProblem ? result.status : 200, {
    'Content-Type': isProblem ? PROBLEM_JSON : result.type,
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(isProblem ? { Vary: 'Accept' } : {}),
    ...(isProblem && result.status === 405 ? { Allow: 'GET, HEAD' } : {}),
  });
  response.end(body);
}
