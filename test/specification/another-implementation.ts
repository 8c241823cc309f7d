import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../folder.ts';

/** What an implementation may get wrong. */
export type Fault =
  | 'bare 404'
  | 'one traceId for all'
  | 'PUT looks at the category first'
  | 'role in other letters'
  | 'stack in the 500'
  | 'todo without done'
  | 'no errors'
  | 'completed twice'
  | 'HTML gets JSON';

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
 * types, other trace ids, members in another order, no `Vary`. Its tokens are `token.<name>-<role>.signed`.
 */
export async function startAnother(
  profile: 'shared-list' | 'error-demo',
  fault?: Fault,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const answer = profile === 'error-demo' ? demo(fault) : list(fault);
  let requests = 0;
  const server = createServer({ keepAliveTimeout: 1 }, async (request, response) => {
    requests += 1;
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const traceId = fault === 'one traceId for all' ? '0HN' : `0HN${requests}:00000001`;
    write(request, response, answer(request, body), traceId, fault);
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

function demo(fault: Fault | undefined): (request: IncomingMessage) => Answer {
  let done = false;
  return ({ method, url }) => {
    const todo = () => ({ done, title: 'Learn', id: 1 });
    const [, id, complete] = /^\/todos\/([+-]?\d+)(\/complete)?$/.exec(url ?? '') ?? [];
    if (method === 'GET' && url === '/crash') return { status: 500 };
    if (id === undefined || (method === 'GET') === (complete !== undefined)) return { status: 404 };
    if (Number(id) !== 1) return { status: 404 };
    if (method === 'GET') return { status: 200, body: todo() };
    if (done && fault !== 'completed twice') {
      const detail = 'Todo 1 is already complete and cannot be completed again.';
      return { status: 409, problem: { title: 'Todo is already completed', detail } };
    }
    done = true;
    return { status: 200, body: todo() };
  };
}

function list(fault: Fault | undefined): (request: IncomingMessage, body: string) => Answer {
  const todos = new Map<number, Todo>();
  let last = 0;
  const categoryMissing: Answer = { status: 400, problem: { title: 'Category not found' } };

  return ({ method, url, headers }, text) => {
    const id = /^\/todos\/([+-]?\d{1,10})$/.exec(url ?? '')?.[1];
    const known = url === '/me' ? ['GET'] : url === '/todos' ? ['GET', 'POST'] : ['GET', 'PUT', 'DELETE'];
    if (url !== '/me' && url !== '/todos' && id === undefined) return { status: 404 };
    if (!known.includes(method ?? '')) return { status: 404 };
    const [, name, role] = /^Bearer token\.(\w+)-(\w*)\.signed$/.exec(headers.authorization ?? '') ?? [];
    if (name === undefined) return { status: 401 };
    if (url === '/me') return { status: 200, body: { userName: name } };
    const editor = fault === 'role in other letters' ? role?.toLowerCase() === 'editor' : role === 'editor';
    if (method !== 'GET' && !editor) return { status: 403 };
    const stored = todos.get(Number(id));
    if (method === 'GET' && id === undefined) {
      return { status: 200, body: [...todos.values()].map((todo) => shape(todo, fault)) };
    }
    if (method === 'GET')
      return stored === undefined ? { status: 404 } : { status: 200, body: shape(stored, fault) };
    if (method === 'DELETE') return { status: todos.delete(Number(id)) ? 204 : 404 };

    const body = parsed(text);
    const { title, categoryId } = body;
    const titleIsWrong = typeof title !== 'string' || title === '' || title.length > 100;
    const isId = typeof categoryId === 'number' && categoryId >= 1 && categoryId <= 2147483647;
    if (titleIsWrong || !isId) {
      return { status: 400, problem: fault === 'no errors' ? {} : { errors: ['title or categoryId'] } };
    }
    const missing = method === 'PUT' && stored === undefined;
    if (missing && fault !== 'PUT looks at the category first') return { status: 404 };
    if (categoryId > 2) return categoryMissing;
    if (missing) return { status: 404 };
    if (method === 'PUT') {
      todos.set(Number(id), { id: Number(id), title, done: body.done === true, categoryId });
      return { status: 204 };
    }
    last += 1;
    const todo = { id: last, title, done: false, categoryId };
    todos.set(last, todo);
    return { status: 201, body: shape(todo, fault), headers: { Location: `/todos/${last}` } };
  };
}

function shape({ done, ...todo }: Todo, fault: Fault | undefined): object {
  return fault === 'todo without done' ? todo : { done, ...todo };
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
  fault: Fault | undefined,
): void {
  const caching: Record<string, string> = status === 500 ? { 'Cache-Control': 'no-cache, no-store' } : {};
  if (status < 400) {
    response.writeHead(
      status,
      body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
    );
    response.end(body === undefined ? undefined : JSON.stringify(body, null, 1));
  } else if (status === 404 && fault === 'bare 404') {
    response.writeHead(404).end();
  } else if (accept === 'text/html' && fault !== 'HTML gets JSON') {
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', ...caching });
    response.end(status === 500 ? undefined : `Status Code: ${status}; ${TITLES[status]}`);
  } else {
    response.writeHead(status, { 'Content-Type': 'application/problem+json; charset=utf-8', ...caching });
    const stack = status === 500 && fault === 'stack in the 500' ? { detail: new Error('boom').stack } : {};
    const type = `https://www.rfc-editor.org/rfc/rfc9110#section-${SECTIONS[status]}`;
    response.end(JSON.stringify({ traceId, status, title: TITLES[status], type, ...problem, ...stack }));
  }
}
