import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { test } from '../check.ts';
import { assertProblem } from '../problem.ts';
import { makeTodo, readTodo, type SharedList, send } from '../target.ts';

const tooLarge = ' '.repeat(65_537);
const broken = { title: '', categoryId: 0 };

/** Contract, Order of checks: when several things are wrong, the first in this order is the answer. */
export function orderOfChecks(target: SharedList): void {
  const { editor, reader } = target.tokens;

  describe('Order of checks', () => {
    test('Order 1 · a fault of the transport comes before an unmatched path, a wrong method and a missing token', async () => {
      const headers = { Host: [target.baseUrl.host, target.baseUrl.host] };
      for (const line of ['GET /nope', 'PATCH /todos', 'GET /todos']) {
        assertProblem(await send(target, line, { headers }), 400, { detail: 'any' });
      }
    });

    test('Order 2 · an unknown path, an id that is none and a wrong method answer the same with or without a token', async () => {
      for (const token of [editor, reader, 'not-a-token', undefined]) {
        const request = { ...(token === undefined ? {} : { token }), body: tooLarge, type: 'text/plain' };
        const headers = { 'www-authenticate': undefined };
        assertProblem(await send(target, 'POST /nope', request), 404, { headers });
        assertProblem(await send(target, 'PUT /todos/abc', request), 404, { headers });
        assertProblem(await send(target, 'PATCH /todos', request), 405, { headers });
      }
    });

    test('Order 3 · a missing token comes before whatever is wrong with the body or the todo', async () => {
      for (const line of ['POST /todos', 'PUT /todos/-1']) {
        assertProblem(await send(target, line, { body: '{', type: 'text/plain' }), 401);
        assertProblem(await send(target, line, { body: tooLarge }), 401);
        assertProblem(await send(target, line, { json: broken }), 401);
      }
      assertProblem(await send(target, 'DELETE /todos/-1'), 401);
    });

    test('Order 3, Endpoints A, rule 1 · the missing role comes before whatever is wrong with the body or the todo', async () => {
      for (const line of ['POST /todos', 'PUT /todos/-1']) {
        assertProblem(await send(target, line, { token: reader, body: '{', type: 'text/plain' }), 403);
        assertProblem(await send(target, line, { token: reader, body: tooLarge }), 403);
        assertProblem(await send(target, line, { token: reader, json: broken }), 403);
      }
      assertProblem(await send(target, 'DELETE /todos/-1', { token: reader }), 403);
    });

    test('Order 4 · the media type comes before the size, the size before the form, the form before the rules', async () => {
      const token = editor;
      const detail = 'optional';
      for (const line of ['POST /todos', 'PUT /todos/-1']) {
        assertProblem(await send(target, line, { token, body: tooLarge, type: 'text/plain' }), 415, {
          detail,
        });
        assertProblem(await send(target, line, { token, body: `{${tooLarge}` }), 413, { detail });
        assertProblem(await send(target, line, { token, body: '{"title":"","categoryId":0' }), 400, {
          detail: 'any',
        });
        assertProblem(await send(target, line, { token, json: broken }), 400, {
          errors: ['title', 'categoryId'],
        });
      }
    });

    test('Order 4 · a malformed If-Match or If-None-Match is a 400 on every endpoint, behind the rules of a body', async () => {
      const todo = await makeTodo(target);
      const json = { title: 'Buy milk', categoryId: 1 };
      for (const [line, request] of [
        ['GET /me', {}],
        ['GET /todos', {}],
        [`GET /todos/${todo.id}`, {}],
        ['POST /todos', { json }],
        [`PUT /todos/${todo.id}`, { json }],
        [`DELETE /todos/${todo.id}`, {}],
      ] as const) {
        for (const name of ['If-Match', 'If-None-Match']) {
          const sent = { ...request, token: editor, headers: { [name]: 'abc' } };
          assertProblem(await send(target, line, sent), 400, { detail: /If-Match and If-None-Match/ });
          if ('json' in request)
            assertProblem(await send(target, line, { ...sent, json: broken }), 400, {
              errors: ['title', 'categoryId'],
            });
        }
      }
      assert.deepEqual(await readTodo(target, todo.id), todo);
    });

    test('Order 4 · a create takes no precondition: a well-formed one is a 400 whose detail says so, before what the store knows', async () => {
      for (const [name, value] of [
        ['If-None-Match', '*'],
        ['If-None-Match', '"5d41402abc4b2a76b9719d911017c592"'],
        ['If-Match', '*'],
        ['If-Match', 'W/"a", "b"'],
      ] as const) {
        for (const categoryId of [1, 2147483647]) {
          const sent = { token: editor, json: { title: 'Buy milk', categoryId }, headers: { [name]: value } };
          assertProblem(await send(target, 'POST /todos', sent), 400, { detail: /POST .* no precondition/ });
        }
      }
    });

    test('Order 4 · GET /me has no tag: a well-formed precondition is ignored', async () => {
      for (const headers of [{ 'If-Match': '"a"' }, { 'If-None-Match': '*' }, { 'If-None-Match': '"a"' }]) {
        assert.equal((await send(target, 'GET /me', { token: reader, headers })).status, 200);
      }
    });

    test('Order 5, Endpoints A, rule 2 · on PUT the missing todo comes before the missing category', async () => {
      const json = { title: 'Buy milk', categoryId: 2147483647 };
      const todo = await makeTodo(target);
      assertProblem(await send(target, 'PUT /todos/-1', { token: editor, json }), 404);
      const title = 'Category not found';
      assertProblem(await send(target, `PUT /todos/${todo.id}`, { token: editor, json }), 400, { title });
      assert.deepEqual(await readTodo(target, todo.id), todo);
    });
  });
}
