import { test } from 'node:test';
import { json } from '../http.ts';
import { expecting, type SharedList, send } from '../target.ts';

/** Authentication, with several tokens of each kind. */
export function issuedTokens(target: SharedList, makeToken: NonNullable<SharedList['makeToken']>): void {
  const { fails, succeeds } = expecting(target);
  const good = { title: 'Buy milk', categoryId: 1 };

  test('an editor may change any todo [A11; Authentication 7]', async () => {
    const ada = await makeToken('Ada', 'editor');
    const bob = await makeToken('Bob', 'editor');
    const made = await send(target, 'POST /todos', { token: ada, json: good });
    const { id } = json(made) as { id: number };
    await succeeds(204, `PUT /todos/${id}`, { token: bob, json: good });
    await succeeds(204, `DELETE /todos/${id}`, { token: bob });
  });

  test('another role, and the role in other letters, may not write [Authentication 3]', async () => {
    for (const role of ['reader', 'Editor', 'EDITOR', 'editors']) {
      const token = await makeToken('Ada', role);
      await fails(403, 'POST /todos', { token, json: good });
    }
  });

  test('another token with the same permissions gets the same 403 [Authentication 6]', async () => {
    for (const name of ['Ada', 'Bob', 'Ada']) {
      const token = await makeToken(name);
      await fails(403, 'POST /todos', { token, json: good });
    }
  });

  test('what an issued token may do stays as it is when another is issued [Authentication 8]', async () => {
    const before = await makeToken('Ada', 'editor');
    const after = await makeToken('Ada');
    await fails(403, 'POST /todos', { token: after, json: good });
    await succeeds(201, 'POST /todos', { token: before, json: good });
    await fails(403, 'POST /todos', { token: after, json: good });
  });
}
