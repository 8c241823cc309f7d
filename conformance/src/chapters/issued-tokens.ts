import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { test } from '../check.ts';
import { json } from '../http.ts';
import { assertProblem } from '../problem.ts';
import { type SharedList, send } from '../target.ts';

/** Specification, Authentication, with more tokens than one of each kind. */
export function issuedTokens(target: SharedList, makeToken: NonNullable<SharedList['makeToken']>): void {
  const good = { title: 'Buy milk', categoryId: 1 };

  describe('Issued tokens', () => {
    test('A11, Authentication 7 · an editor may change any todo', async () => {
      const ada = await makeToken('Ada', 'editor');
      const bob = await makeToken('Bob', 'editor');
      const made = await send(target, 'POST /todos', { token: ada, json: good });
      const { id } = json(made) as { id: number };
      assert.equal((await send(target, `PUT /todos/${id}`, { token: bob, json: good })).status, 204);
      assert.equal((await send(target, `DELETE /todos/${id}`, { token: bob })).status, 204);
    });

    test('Authentication 3 · another role, and the role in other letters, may not write', async () => {
      for (const role of ['reader', 'Editor', 'EDITOR', 'editors']) {
        const token = await makeToken('Ada', role);
        assertProblem(await send(target, 'POST /todos', { token, json: good }), 403);
      }
    });

    test('Authentication 6 · another token with the same permissions gets the same 403', async () => {
      for (const name of ['Ada', 'Bob', 'Ada']) {
        const token = await makeToken(name);
        assertProblem(await send(target, 'POST /todos', { token, json: good }), 403);
      }
    });

    test('Authentication 8 · what an issued token may do stays as it is when another is issued', async () => {
      const before = await makeToken('Ada', 'editor');
      const after = await makeToken('Ada');
      assertProblem(await send(target, 'POST /todos', { token: after, json: good }), 403);
      assert.equal((await send(target, 'POST /todos', { token: before, json: good })).status, 201);
      assertProblem(await send(target, 'POST /todos', { token: after, json: good }), 403);
    });
  });
}
