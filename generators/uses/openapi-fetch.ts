import createClient from 'openapi-fetch';
import type { paths as DemoPaths } from '../made/error-demo/openapi-typescript.ts';
import type { components, paths } from '../made/shared-list/openapi-typescript.ts';
import { demoUrl, editor, listUrl } from '../service.ts';
import type { Client } from './client.ts';

const list = createClient<paths>({ baseUrl: listUrl, headers: { Authorization: `Bearer ${editor}` } });
const demo = createClient<DemoPaths>({ baseUrl: demoUrl });

// @ts-expect-error the title is a string
void ({ title: 5, categoryId: 2 } satisfies components['schemas']['CreateTodo']);

const headersOf = (token: string | undefined) =>
  token === undefined ? {} : { headers: { Authorization: token === '' ? null : `Bearer ${token}` } };

/** `openapi-typescript` with `openapi-fetch`. */
export const openapiFetch: Client = {
  create: (body) => list.POST('/todos', { body }),
  get: (id, tag) => {
    const header = tag === undefined ? {} : { 'If-None-Match': tag };
    return list.GET('/todos/{id}', { params: { path: { id }, header } });
  },
  replace: (id, body) => list.PUT('/todos/{id}', { params: { path: { id } }, body }),
  remove: (id, tag, token) => {
    const header = tag === undefined ? {} : { 'If-Match': tag };
    return list.DELETE('/todos/{id}', { params: { path: { id }, header }, ...headersOf(token) });
  },
  list: (token) => list.GET('/todos', headersOf(token)),
  me: () => list.GET('/me'),
  complete: (id) => demo.POST('/todos/{id}/complete', { params: { path: { id } } }),
  crash: () => demo.GET('/crash'),
};
