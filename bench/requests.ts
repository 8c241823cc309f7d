import { exchange, type Reply } from '../conformance/src/http.ts';
import { randomFrom } from '../test/storage/random.ts';
import type { Kind } from './scenarios.ts';
import type { TokenMaker } from './tokens.ts';

export interface TodoRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly token: string;
  /** JSON. */
  readonly body?: string;
  readonly expected: {
    readonly status: number;
    /** The members that the body must have; an array must be equal. */
    readonly json?: object;
  };
}

/** Distinct requests of a scenario; the load goes through them again and again. */
const DRAWN = 10_000;

/** More than any server remembers of tokens, so that a token is forgotten before it comes again. */
const FIRST_SEEN = 12_000;

/** The requests of a kind over `todos` todos by an editor's token, the same ones in every run. */
export async function drawRequests(
  kind: Kind,
  todos: number,
  tokens: TokenMaker,
  token: string,
): Promise<readonly TodoRequest[]> {
  const random = randomFrom(20_261_121);
  const id = () => 1 + Math.floor(random() * todos);
  const list = readList(todos, token);
  switch (kind) {
    case 'one':
      return Array.from({ length: DRAWN }, () => readOne(id(), token));
    case 'missing':
      return Array.from({ length: DRAWN }, () => readMissing(todos + id(), token));
    case 'list':
      return [list];
    case 'create':
      return Array.from({ length: DRAWN }, (_, index) => create(index, token));
    case 'mix':
      return Array.from({ length: DRAWN }, (_, index) => {
        const share = random();
        if (share < 0.75) return readOne(id(), token);
        if (share < 0.9) return replace(id(), random() < 0.5, token);
        return share < 0.95 ? list : create(index, token);
      });
    case 'first-seen':
      return Promise.all(
        Array.from({ length: FIRST_SEEN }, async (_, index) =>
          readOne(id(), await tokens.make({ name: 'ada', role: 'editor', jti: String(index) })),
        ),
      );
  }
}

/** Todo number `id` of every database that a scenario begins with; `kit.ts` says the same in SQL. */
function todoNumber(id: number) {
  return { id, title: `Buy milk for the week ${id}`, done: id % 3 === 0, categoryId: (id % 2) + 1 };
}

export function readOne(id: number, token: string): TodoRequest {
  return { method: 'GET', path: `/todos/${id}`, token, expected: { status: 200, json: todoNumber(id) } };
}

function readMissing(id: number, token: string): TodoRequest {
  const json = { title: 'Not Found', status: 404 };
  return { method: 'GET', path: `/todos/${id}`, token, expected: { status: 404, json } };
}

function readList(todos: number, token: string): TodoRequest {
  const json = Array.from({ length: todos }, (_, index) => todoNumber(index + 1));
  return { method: 'GET', path: '/todos', token, expected: { status: 200, json } };
}

export function create(index: number, token: string): TodoRequest {
  const body = { title: `Water the plants ${index}`, categoryId: 1 };
  const expected = { status: 201, json: { ...body, done: false } };
  return { method: 'POST', path: '/todos', token, body: JSON.stringify(body), expected };
}

function replace(id: number, done: boolean, token: string): TodoRequest {
  const { title, categoryId } = todoNumber(id);
  const body = JSON.stringify({ title, done, categoryId });
  return { method: 'PUT', path: `/todos/${id}`, token, body, expected: { status: 204 } };
}

/** A request as it is sent. */
export function raw({ method, path, token, body }: TodoRequest, more: object = {}): string {
  const headers = Object.entries({
    Host: 'localhost',
    ...(token === '' ? {} : { Authorization: `Bearer ${token}` }),
    ...(body === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
    ...more,
  });
  return `${method} ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body ?? ''}`;
}

/** Sends one request over a connection of its own. */
export async function ask(port: number, request: TodoRequest): Promise<Reply> {
  const url = new URL(`http://127.0.0.1:${port}`);
  const [reply] = await exchange(url, raw(request, { Connection: 'close' }));
  if (reply === undefined) throw new Error(`no answer to ${request.method} ${request.path}`);
  return reply;
}
