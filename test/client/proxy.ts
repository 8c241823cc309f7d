import { once } from 'node:events';
import { createServer, request as forward, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../support/folder.ts';

/** What becomes of one request: it passes, its connection is cut before or after the service has seen it, or an answer. */
export type Fate =
  | 'pass'
  | 'cut before'
  | 'cut after'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

export interface Seen {
  /** `GET /todos 304`, 0 for a connection that was cut. */
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
}

/** A proxy in front of a service. The requests meet the fates in their order; those behind the last pass. Owned. */
export interface Proxy extends AsyncDisposable {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** Of the requests from now on. */
  readonly fates: Fate[];
}

export async function startProxy(service: string): Promise<Proxy> {
  const seen: Seen[] = [];
  const fates: Fate[] = [];
  // It closes no connection by itself: a request could be on its way.
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const { method = '', url = '', headers, socket } = request;
    const body = await text(request);
    const fate = fates.shift() ?? 'pass';
    const note = (status: number) => seen.push({ line: `${method} ${url} ${status}`, headers });
    if (typeof fate === 'object') {
      note(fate.status);
      response.writeHead(fate.status, fate.headers).end(fate.body);
      return;
    }
    if (fate !== 'cut before') {
      const sent = forward(service + url, { method, headers });
      sent.end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      const answered = await text(answer);
      if (fate === 'pass') {
        note(answer.statusCode ?? 0);
        response.writeHead(answer.statusCode ?? 0, answer.headers).end(answered);
        return;
      }
    }
    note(0);
    socket.destroy();
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    seen,
    fates,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
