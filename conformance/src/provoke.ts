import assert from 'node:assert/strict';
import { holdsToContract } from './problem.ts';
import { makeTodo, type Request, send, type Target } from './target.ts';

/** A request that is answered with an error, and what is special about that answer. */
export interface Provocation {
  readonly line: string;
  readonly request: Request;
  readonly status: number;
  /** RFC 9110, as it stands in the text line. */
  readonly phrase: string;
  readonly title?: string;
  readonly detail?: 'any' | 'optional';
  readonly errors?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Statuses that only the contract knows. */
const ofTheContract = [405, 413, 415];

/**
 * One request for every error between 400 and 499 that routing, authentication, the body and the endpoints of
 * this profile can say. They change nothing: ids of todos that must not exist are negative, for a positive one
 * may be somebody's todo.
 */
export async function provocations(target: Target): Promise<Provocation[]> {
  const all = await everyProvocation(target);
  return holdsToContract()
    ? all
    : all.filter(({ status, detail }) => !ofTheContract.includes(status) && detail === undefined);
}

async function everyProvocation(target: Target): Promise<Provocation[]> {
  const notFound = { status: 404, phrase: 'Not Found' } as const;
  const unmatched = { line: 'GET /nope', request: {}, ...notFound };
  if (target.profile === 'error-demo') {
    return [
      unmatched,
      { line: 'GET /todos/7', request: {}, ...notFound },
      { line: 'POST /todos/7/complete', request: {}, ...notFound },
      wrongMethod('DELETE /todos/1', 'GET, HEAD'),
      ...(target.fresh ? [await completedTwice(target)] : []),
    ];
  }
  const { editor, reader } = target.tokens;
  const { id } = await makeTodo(target);
  const good = { title: 'Buy milk', categoryId: 1 };
  const body = { status: 400, phrase: 'Bad Request' } as const;
  return [
    unmatched,
    { line: 'GET /todos/-1', request: { token: reader }, ...notFound },
    { line: 'PUT /todos/-1', request: { token: editor, json: good }, ...notFound },
    { line: 'DELETE /todos/-1', request: { token: editor }, ...notFound },
    wrongMethod('PATCH /todos', 'GET, HEAD, POST'),
    challenged('GET /todos', {}, 'Bearer realm="todo-service"'),
    challenged('POST /todos', { json: good }, 'Bearer realm="todo-service"'),
    forbidden('POST /todos', { token: reader, json: good }),
    forbidden(`DELETE /todos/${id}`, { token: reader }),
    ...['POST /todos', `PUT /todos/${id}`].flatMap((line): Provocation[] => [
      { line, request: { token: editor, json: { ...good, title: '' } }, ...body, errors: ['title'] },
      {
        line,
        request: { token: editor, json: { ...good, categoryId: 2147483647 } },
        ...body,
        title: 'Category not found',
      },
      { line, request: { token: editor, body: '{' }, ...body, detail: 'any' },
      {
        line,
        request: { token: editor, body: '{}', type: 'text/plain' },
        status: 415,
        phrase: 'Unsupported Media Type',
        detail: 'optional',
      },
      {
        line,
        request: { token: editor, body: ' '.repeat(65_537) },
        status: 413,
        phrase: 'Content Too Large',
        detail: 'optional',
      },
    ]),
  ];
}

async function completedTwice(target: Target): Promise<Provocation> {
  const { status } = await send(target, 'POST /todos/1/complete');
  assert.ok(status === 200 || status === 409, `POST /todos/1/complete answered ${status}`);
  return {
    line: 'POST /todos/1/complete',
    request: {},
    status: 409,
    phrase: 'Conflict',
    title: 'Todo is already completed',
    detail: 'any',
  };
}

function wrongMethod(line: string, allow: string): Provocation {
  return { line, request: {}, status: 405, phrase: 'Method Not Allowed', headers: { allow } };
}

function challenged(line: string, request: Request, challenge: string): Provocation {
  return { line, request, status: 401, phrase: 'Unauthorized', headers: { 'www-authenticate': challenge } };
}

function forbidden(line: string, request: Request): Provocation {
  const challenge = 'Bearer realm="todo-service", error="insufficient_scope"';
  return { line, request, status: 403, phrase: 'Forbidden', headers: { 'www-authenticate': challenge } };
}
