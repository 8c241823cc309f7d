import assert from 'node:assert/strict';
import { client as demoClient } from '../made/error-demo/hey-api/client.gen.ts';
import * as demo from '../made/error-demo/hey-api/index.ts';
import { client } from '../made/shared-list/hey-api/client.gen.ts';
import * as list from '../made/shared-list/hey-api/index.ts';
import { demoUrl, editor, listUrl, reader } from '../service.ts';

/** `@hey-api/openapi-ts` with its client for `fetch`. */
export async function useHeyApi(): Promise<void> {
  client.setConfig({ baseUrl: listUrl, auth: editor });
  const body: list.CreateTodo = { title: 'Buy milk', categoryId: 2 };
  const { data, response } = await list.createTodo({ body });
  assert.ok(data);
  const todo: { id: number; title: string; done: boolean; categoryId: number } = data;
  assert.deepEqual(todo, { id: todo.id, title: 'Buy milk', done: false, categoryId: 2 });
  assert.equal(response?.headers.get('location'), `/todos/${todo.id}`);
  const etag = response?.headers.get('etag') ?? '';
  const path = { id: todo.id };

  const again = await list.getTodo({ path, headers: { 'If-None-Match': etag } });
  assert.equal(again.response?.status, 304);
  const replacement: list.ReplaceTodo = { title: 'Buy bread', categoryId: 1 };
  const replaced = await list.replaceTodo({ path, body: replacement });
  assert.equal(replaced.response?.status, 204);
  const titles: readonly string[] = (await list.listTodos()).data?.map(({ title }) => title) ?? [];
  assert.ok(titles.includes('Buy bread'));
  const name: string | null | undefined = (await list.getMe()).data?.name;
  assert.equal(name, 'Ada');

  const { error: invalid } = await list.createTodo({ body: { title: '', categoryId: 2 } });
  assert.ok(typeof invalid === 'object' && 'errors' in invalid);
  const errors: Readonly<Record<string, readonly string[]>> = invalid.errors;
  assert.deepEqual(Object.keys(errors), ['title']);
  titled((await list.deleteTodo({ path, headers: { 'If-Match': etag } })).error, 412, 'Precondition Failed');
  const { error: category } = await list.createTodo({ body: { title: 'Buy milk', categoryId: 99 } });
  titled(category, 400, 'Category not found');
  titled((await list.deleteTodo({ path, auth: reader })).error, 403, 'Forbidden');
  const anonymous = await list.listTodos({ auth: '' });
  titled(anonymous.error, 401, 'Unauthorized');
  assert.match(anonymous.response?.headers.get('www-authenticate') ?? '', /^Bearer realm=/);
  await list.deleteTodo({ path });
  titled((await list.getTodo({ path })).error, 404, 'Not Found');

  // @ts-expect-error the title is a string
  const wrong: list.CreateTodo = { title: 5, categoryId: 2 };
  assert.ok(wrong);

  demoClient.setConfig({ baseUrl: demoUrl });
  const twice = await demo.completeTodo({ path: { id: 1 } });
  titled(twice.error, 409, 'Todo is already completed');
  titled((await demo.crash()).error, 500, 'An error occurred while processing your request.');
}

function titled(error: list.ProblemDetails | string | undefined, status: number, title: string): void {
  assert.ok(typeof error === 'object', String(error));
  assert.deepEqual([error.status, error.title], [status, title]);
}
