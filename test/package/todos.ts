import assert from 'node:assert/strict';
import type { Serving } from './program.ts';

/** Creates the first todo of an empty list. */
export async function create({ baseUrl }: Serving, token: string): Promise<void> {
  const created = await fetch(`${baseUrl}/todos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Buy milk', categoryId: 2 }),
  });
  assert.equal(created.status, 201, await created.clone().text());
  assert.equal(created.headers.get('location'), '/todos/1');
}

/** Finds it, by itself and in the list. */
export async function read({ baseUrl }: Serving, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const todo = { id: 1, title: 'Buy milk', done: false, categoryId: 2 };
  assert.deepEqual(await (await fetch(`${baseUrl}/todos/1`, { headers })).json(), todo);
  assert.deepEqual(await (await fetch(`${baseUrl}/todos`, { headers })).json(), [todo]);
}
