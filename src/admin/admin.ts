import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Receive } from '../http/transport/server.ts';
import { PROBLEM_JSON, type Problem, problemBody } from '../problem/problem.ts';
import { traceIdOf } from '../problem/trace-id.ts';

/** What operators can ask for. */
export interface AdminParts {
  /** True when requests can be answered, else why not, for people. Never rejects. */
  readonly ready: () => Promise<true | string>;
  readonly metrics: () => Promise<Content>;
  /** What is running. */
  readonly version: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
}

/** What a page answers with status 200. */
interface Content {
  readonly contentType: string;
  readonly text: string;
}

type Page = () => Content | Problem | Promise<Content | Problem>;

/** What is done with a request on the operators' port. Its errors are problems, always JSON. */
export function composeAdmin({ ready, metrics, version, log }: AdminParts): Receive {
  const pages = new Map<string, Page>([
    ['/live', () => json({ status: 'live' })],
    [
      '/ready',
      async () => {
        const answer = await ready();
        return answer === true ? json({ status: 'ready' }) : { status: 503, detail: answer };
      },
    ],
    ['/metrics', metrics],
    ['/version', () => json(version)],
  ]);
  return (request, response) => {
    request.resume();
    answer(pages.get(request.url ?? ''), request)
      .catch((err): Problem => {
        log.error({ event: 'admin-failed', path: request.url, err }, 'the admin listener failed');
        return { status: 500 };
      })
      .then((result) => write(request, response, result));
  };
}

async function answer(page: Page | undefined, { method }: IncomingMessage): Promise<Content | Problem> {
  if (page === undefined) return { status: 404 };
  return method === 'GET' || method === 'HEAD' ? page() : { status: 405 };
}

function json(value: object): Content {
  return { contentType: 'application/json; charset=utf-8', text: JSON.stringify(value) };
}

function write(request: IncomingMessage, response: ServerResponse, result: Content | Problem): void {
  const isProblem = 'status' in result;
  const body = isProblem ? problemBody(result, traceIdOf(request)) : result.text;
  response.writeHead(isProblem ? result.status : 200, {
    'Content-Type': isProblem ? PROBLEM_JSON : result.contentType,
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(isProblem ? { Vary: 'Accept' } : {}),
    ...(isProblem && result.status === 405 ? { Allow: 'GET, HEAD' } : {}),
  });
  response.end(body);
}
