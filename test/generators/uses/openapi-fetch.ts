import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths as DemoPaths } from '../made/openapi-typescript/error_demo.ts';
import type { components, paths } from '../made/openapi-typescript/shared_list.ts';

const { TODO_LIST_URL: baseUrl = '', TODO_DEMO_URL: demoUrl = '', TODO_TOKEN: token } = process.env;
const list = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

// @ts-expect-error the title is a string
void ({ title: 5, categoryId: 2 } satisfies components['schemas']['CreateTodo']);

const { data, response } = await list.POST('/todos', { body: { title: 'Buy milk', categoryId: 2 } });
assert.ok(data?.done === false);
const path = { id: data.id };
assert.deepEqual((await list.GET('/todos/{id}', { params: { path } })).data, data);
const header = { 'If-Match': String(response.headers.get('etag')) };
for (const status of [204, 412]) {
  const body = { title: 'Buy bread', categoryId: 1 };
  const replaced = await list.PUT('/todos/{id}', { params: { path, header }, body });
  assert.equal(replaced.response.status, status);
}
const invalid = await list.POST('/todos', { body: { title: '', categoryId: 2 } });
assert.deepEqual([invalid.error?.title, invalid.response.status], [invalid.error?.title, 400]);
assert.ok(invalid.error && 'errors' in invalid.error);
assert.deepEqual(Object.keys(invalid.error.errors ?? {}), ['title']);
const missing = await list.GET('/todos/{id}', { params: { path: { id: data.id + 1 } } });
assert.equal(missing.error?.title, 'Not Found');

const demo = createClient<DemoPaths>({ baseUrl: demoUrl });
const done = await demo.POST('/todos/{id}/complete', { params: { path: { id: 1 } } });
assert.equal(done.data?.done, true);
