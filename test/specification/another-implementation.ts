import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../support/folder.ts';

interface Todo {
  readonly id: number;
  readonly title: string;
  readonly done: boolean;
  readonly categoryId: number;
}

/** An answer; `problem` gets its body. */
interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly problem?: { readonly title?: string; readonly detail?: string; readonly errors?: unknown };
  readonly headers?: Readonly<Record<string, string>>;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'That does not work',
  401: 'Who are you?',
  403: 'Forbidden',
  404: 'Not Found',
  500: 'An error occurred while processing your request.',
};

const SECTIONS: Readonly<Record<number, string>> = {
  400: '15.5.1',
  401: '15.5.2',
  403: '15.5.4',
  404: '15.5.5',
  409: '15.5.10',
  500: '15.6.1',
};

/**
 * A service that follows the specification and, where it is silent, nothing of our contract: other titles, other
 * types, other trace ids, members in another order, no `Vary`. Its tokens are `token.<name>-<role>.signed`. As Squid does,
 * it refuses a `POST` and a `PUT` that say no length, and any other method that has a body.
 */
export async function startAnother(
  profile: 'shared-list' | 'error-demo',
): Promise<{ readonly url: string } & AsyncDisposable> {
  const answer = profile === 'error-demo' ? demo() : list();
  let requests = 0;
  const server = createServer({ keepAliveTimeout: 1 }, async (request, response) => {
    requests += 1;
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const takesBody = request.method === 'POST' || request.method === 'PUT';
    if (takesBody === (request.headers['content-length'] === undefined))
      return void response.writeHead(411).end();
    write(request, response, answer(request, body), `0HN${requests}:00000001`);
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function demo(): (request: IncomingMessage) => Answer {
  let done = false;
  return ({ method, url }) => {
    const todo = () => ({ done, title: 'Learn', id: 1 });
    const [, id, complete] = /^\/todos\/([+-]?\d+)(\/complete)?$/.exec(url ?? '') ?? [];
    if (method === 'GET' && url === '/crash') return { status: 500 };
    if (id === undefined || (method === 'GET') === (complete !== undefined)) return { status: 404 };
    if (Number(id) !== 1) return { status: 404 };
    if (method === 'GET') return { status: 200, body: todo() };
    if (done) {
      const detail = 'Todo 1 is already complete and cannot be completed again.';
      return { status: 409, problem: { title: 'Todo is already completed', detail } };
    }
    done = true;
    return { status: 200, body: todo() };
  };
}

function list(): (request: IncomingMessage, body: string) => Answer {
  const todos = new Map<number, Todo>();
  let last = 0;

  return ({ method, url, headers }, text) => {
    const id = /^\/todos\/([+-]?\d{1,10})$/.exec(url ?? '')?.[1];
    const known = url === '/me' ? ['GET'] : url === '/todos' ? ['GET', 'POST'] : ['GET', 'PUT', 'DELETE'];
    if (url !== '/me' && url !== '/todos' && id === undefined) return { status: 404 };
    if (!known.includes(method ?? '')) return { status: 404 };
    const [, name, role] = /^Bearer token\.(\w+)-(\w*)\.signed$/.exec(headers.authorization ?? '') ?? [];
    if (name === undefined) return { status: 401 };
    if (url === '/me') return { status: 200, body: { userName: name } };
    if (method !== 'GET' && role !== 'editor') return { status: 403 };
    const stored = todos.get(Number(id));
    if (method === 'GET' && id === undefined) {
      return { status: 200, body: [...todos.values()].map(shape) };
    }
    if (method === 'GET')
      return stored === undefined ? { status: 404 } : { status: 200, body: shape(stored) };
    if (method === 'DELETE') return { status: todos.delete(Number(id)) ? 204 : 404 };

    const body = parsed(text);
    const { title, categoryId } = body;
    const titleIsWrong = typeof title !== 'string' || title === '' || title.length > 100;
    const isId = typeof categoryId === 'number' && categoryId >= 1 && categoryId <= 2147483647;
    if (titleIsWrong || !isId) {
      return { status: 400, problem: { errors: ['title or categoryId'] } };
    }
    if (method === 'PUT' && stored === undefined) return { status: 404 };
    if (categoryId > 2) return { status: 400, problem: { title: 'Category not found' } };
    if (method === 'PUT') {
      todos.set(Number(id), { id: Number(id), title, done: body.done === true, categoryId });
      return { status: 204 };
    }
    last += 1;
    const todo = { id: last, title, done: false, categoryId };
    todos.set(last, todo);
    return { status: 201, body: shape(todo), headers: { Location: `/todos/${last}` } };
  };
}

/** Its members in another order. */
function shape({ done, ...todo }: Todo): object {
  return { done, ...todo };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function write(
  { headers: { accept = '*/*' } }: IncomingMessage,
  response: ServerResponse,
  { status, body, problem, headers = {} }: Answer,
  traceId: string,
): void {
  const caching: Record<string, string> = status === 500 ? { 'Cache-Control': 'no-cache, no-store' } : {};
  if (status < 400) {
    response.writeHead(
      status,
      body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
    );
    response.end(body === undefined ? undefined : JSON.stringify(body, null, 1));
  } else if (accept === 'text/html') {
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', ...caching });
    response.end(status === 500 ? undefined : `Status Code: ${status}; ${TITLES[status]}`);
  } else {
    response.writeHead(status, { 'Content-Type': 'application/problem+json; charset=utf-8', ...caching });
    const type = `https://www.rfc-editor.org/rfc/rfc9110#section-${SECTIONS[status]}`;
    response.end(JSON.stringify({ traceId, status, title: TITLES[status], type, ...problem }));
  }
}
