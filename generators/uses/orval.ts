import assert from 'node:assert/strict';
import * as demo from '../made/error-demo/orval.ts';
import * as list from '../made/shared-list/orval.ts';
import { editor, reader } from '../service.ts';

/** `orval` with its client for `fetch`. */
export async function useOrval(): Promise<void> {
  const asEditor = { headers: { Authorization: `Bearer ${editor}` } };
  const body: list.CreateTodo = { title: 'Buy milk', categoryId: 2 };
  const created = await list.createTodo(body, asEditor);
  assert.ok(created.status === 201);
  const todo: { id: number; title: string; done: boolean; categoryId: number } = created.data;
  assert.deepEqual(todo, { id: todo.id, title: 'Buy milk', done: false, categoryId: 2 });
  assert.equal(created.headers.get('location'), `/todos/${todo.id}`);
  const etag = created.headers.get('etag') ?? '';

  const tagged = { headers: { ...asEditor.headers, 'If-None-Match': etag } };
  assert.equal((await list.getTodo(todo.id, tagged)).status, 304);
  const replacement: list.ReplaceTodo = { title: 'Buy bread', categoryId: 1 };
  assert.equal((await list.replaceTodo(todo.id, replacement, asEditor)).status, 204);
  const all = await list.listTodos(asEditor);
  assert.ok(all.status === 200 && all.data.some(({ title }) => title === 'Buy bread'));
  const me = await list.getMe(asEditor);
  assert.ok(me.status === 200);
  const name: string | null = me.data.name;
  assert.equal(name, 'Ada');

  const invalid = await list.createTodo({ title: '', categoryId: 2 }, asEditor);
  assert.ok(invalid.status === 400 && typeof invalid.data === 'object' && 'errors' in invalid.data);
  const errors: Readonly<Record<string, readonly string[]>> = invalid.data.errors;
  assert.deepEqual(Object.keys(errors), ['title']);
  const stale = { headers: { ...asEditor.headers, 'If-Match': etag } };
  titled(await list.deleteTodo(todo.id, stale), 412, 'Precondition Failed');
  titled(await list.createTodo({ title: 'x', categoryId: 99 }, asEditor), 400, 'Category not found');
  const asReader = { headers: { Authorization: `Bearer ${reader}` } };
  titled(await list.deleteTodo(todo.id, asReader), 403, 'Forbidden');
  const anonymous = await list.listTodos();
  titled(anonymous, 401, 'Unauthorized');
  assert.match(anonymous.headers.get('www-authenticate') ?? '', /^Bearer realm=/);
  await list.deleteTodo(todo.id, asEditor);
  titled(await list.getTodo(todo.id, asEditor), 404, 'Not Found');

  // @ts-expect-error the title is a string
  const wrong: list.CreateTodo = { title: 5, categoryId: 2 };
  assert.ok(wrong);

  titled(await demo.completeTodo(1), 409, 'Todo is already completed');
  titled(await demo.crash(), 500, 'An error occurred while processing your request.');
}

function titled(answer: { status: number; data: unknown }, status: number, title: string): void {
  assert.equal(answer.status, status);
  assert.ok(typeof answer.data === 'object' && answer.data !== null && 'title' in answer.data);
  assert.equal(answer.data.title, title);
}
