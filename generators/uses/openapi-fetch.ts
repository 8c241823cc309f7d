import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components as Demo, paths as DemoPaths } from '../made/error-demo/openapi-typescript.ts';
import type { components, paths } from '../made/shared-list/openapi-typescript.ts';
import { demoUrl, editor, listUrl, reader } from '../service.ts';

type Schemas = components['schemas'];

const list = createClient<paths>({ baseUrl: listUrl, headers: { Authorization: `Bearer ${editor}` } });

/** `openapi-typescript` with `openapi-fetch`. */
export async function useOpenapiFetch(): Promise<void> {
  const body: Schemas['CreateTodo'] = { title: 'Buy milk', categoryId: 2 };
  const { data, response } = await list.POST('/todos', { body });
  assert.ok(data);
  const { id, title, done, categoryId }: { id: number; title: string; done: boolean; categoryId: number } =
    data;
  assert.deepEqual({ id, title, done, categoryId }, { id, ...body, done: false });
  assert.equal(response.headers.get('location'), `/todos/${id}`);
  const etag = response.headers.get('etag') ?? '';
  const path = { id };

  const again = await list.GET('/todos/{id}', { params: { path, header: { 'If-None-Match': etag } } });
  assert.equal(again.response.status, 304);
  // `done` may be left out.
  const replacement: Schemas['ReplaceTodo'] = { title: 'Buy bread', categoryId: 1 };
  const replaced = await list.PUT('/todos/{id}', { params: { path }, body: replacement });
  assert.equal(replaced.response.status, 204);
  const all = await list.GET('/todos');
  const titles: readonly string[] = all.data?.map((todo) => todo.title) ?? [];
  assert.ok(titles.includes('Buy bread'));
  const me = await list.GET('/me');
  const name: string | null | undefined = me.data?.name;
  assert.equal(name, 'Ada');

  const invalid = await list.POST('/todos', { body: { title: '', categoryId: 2 } });
  const problem = invalid.error;
  assert.ok(typeof problem === 'object' && 'errors' in problem);
  const errors: Readonly<Record<string, readonly string[]>> = problem.errors;
  assert.deepEqual(Object.keys(errors), ['title']);
  const stale = await list.DELETE('/todos/{id}', { params: { path, header: { 'If-Match': etag } } });
  titled(stale.error, 412, 'Precondition Failed');
  const category = await list.POST('/todos', { body: { title: 'Buy milk', categoryId: 99 } });
  titled(category.error, 400, 'Category not found');
  const forbidden = await list.DELETE('/todos/{id}', {
    params: { path },
    headers: { Authorization: `Bearer ${reader}` },
  });
  titled(forbidden.error, 403, 'Forbidden');
  const anonymous = await list.GET('/todos', { headers: { Authorization: null } });
  titled(anonymous.error, 401, 'Unauthorized');
  assert.match(anonymous.response.headers.get('www-authenticate') ?? '', /^Bearer realm=/);
  await list.DELETE('/todos/{id}', { params: { path } });
  titled((await list.GET('/todos/{id}', { params: { path } })).error, 404, 'Not Found');

  // @ts-expect-error the title is a string
  const wrong: Schemas['CreateTodo'] = { title: 5, categoryId: 2 };
  assert.ok(wrong);
  await useDemo();
}

async function useDemo(): Promise<void> {
  const demo = createClient<DemoPaths>({ baseUrl: demoUrl });
  const path = { id: 1 };
  const completed = await demo.POST('/todos/{id}/complete', { params: { path } });
  const todo: Demo['schemas']['Todo'] | undefined = completed.data;
  const done: true | undefined = completed.data?.done;
  assert.deepEqual([todo?.id, done], [1, true]);
  const twice = await demo.POST('/todos/{id}/complete', { params: { path } });
  titled(twice.error, 409, 'Todo is already completed');
  const crash = await demo.GET('/crash');
  titled(crash.error, 500, 'An error occurred while processing your request.');
  assert.equal(crash.response.headers.get('cache-control'), 'no-cache,no-store');
}

function titled(error: Schemas['ProblemDetails'] | string | undefined, status: number, title: string): void {
  assert.ok(typeof error === 'object', String(error));
  assert.deepEqual([error.status, error.title], [status, title]);
  const traceId: string = error.traceId;
  assert.match(traceId, /^00-/);
}
