import assert from 'node:assert/strict';
import { type Expected, holdsToContract } from './problem.ts';
import { makeTodo, type Request, send, type Target } from './target.ts';

/** A request that is answered with an error, and the particulars of that answer. */
export interface Provocation extends Expected {
  readonly line: string;
  readonly request?: Request;
  readonly status: number;
}

/** Statuses that only the contract has. */
const ofTheContract = [405, 413, 415];

/**
 * One request for every error between 400 and 499 of routing, authentication, the body and the endpoints of this profile.
 * They change nothing: ids of todos that must not exist are negative, for a positive one may be another client's todo.
 */
export async function provocations(target: Target): Promise<readonly Provocation[]> {
  const all = await everyProvocation(target);
  return holdsToContract()
    ? all
    : all.filter(({ status, detail }) => !ofTheContract.includes(status) && detail === undefined);
}

async function everyProvocation(target: Target): Promise<readonly Provocation[]> {
  const unmatched = { line: 'GET /nope', status: 404 };
  if (target.profile === 'error-demo') {
    return [
      unmatched,
      { line: 'GET /todos/7', status: 404 },
      { line: 'POST /todos/7/complete', status: 404 },
      { line: 'DELETE /todos/1', status: 405, headers: { allow: 'GET, HEAD' } },
      ...(target.fresh ? [await completedTwice(target)] : []),
    ];
  }
  const { editor: token, reader } = target.tokens;
  const { id } = await makeTodo(target);
  const json = { title: 'Buy milk', categoryId: 1 };
  const challenge = 'Bearer realm="todo-service"';
  const challenged = { status: 401, headers: { 'www-authenticate': challenge } };
  const insufficient = { 'www-authenticate': `${challenge}, error="insufficient_scope"` };
  const forbidden = { status: 403, headers: insufficient };
  return [
    unmatched,
    { line: 'GET /todos/-1', request: { token: reader }, status: 404 },
    { line: 'PUT /todos/-1', request: { token, json }, status: 404 },
    { line: 'DELETE /todos/-1', request: { token }, status: 404 },
    { line: 'PATCH /todos', status: 405, headers: { allow: 'GET, HEAD, POST' } },
    { line: 'GET /todos', ...challenged },
    { line: 'POST /todos', request: { json }, ...challenged },
    { line: 'POST /todos', request: { token: reader, json }, ...forbidden },
    { line: `DELETE /todos/${id}`, request: { token: reader }, ...forbidden },
    ...['POST /todos', `PUT /todos/${id}`].flatMap((line): Provocation[] => {
      const missing = { ...json, categoryId: 2147483647 };
      return [
        { line, request: { token, json: { ...json, title: '' } }, status: 400, errors: ['title'] },
        { line, request: { token, json: missing }, status: 400, title: 'Category not found' },
        { line, request: { token, body: '{' }, status: 400, detail: 'any' },
        { line, request: { token, body: '{}', type: 'text/plain' }, status: 415, detail: 'any' },
        { line, request: { token, body: ' '.repeat(65_537) }, status: 413, detail: 'optional' },
      ];
    }),
  ];
}

async function completedTwice(target: Target): Promise<Provocation> {
  const line = 'POST /todos/1/complete';
  const { status } = await send(target, line);
  assert.ok(status === 200 || status === 409, `${line} answered ${status}`);
  return { line, status: 409, title: 'Todo is already completed', detail: 'any' };
}
