import assert from 'node:assert/strict';
import { describe, test } from '../check.ts';
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
