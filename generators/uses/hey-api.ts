import { client as demoClient } from '../made/error-demo/hey-api/client.gen.ts';
import * as demo from '../made/error-demo/hey-api/index.ts';
import { client } from '../made/shared-list/hey-api/client.gen.ts';
import * as list from '../made/shared-list/hey-api/index.ts';
import { demoUrl, editor, listUrl } from '../service.ts';
import type { Client } from './client.ts';

client.setConfig({ baseUrl: listUrl, auth: editor });
demoClient.setConfig({ baseUrl: demoUrl });

// @ts-expect-error the title is a string
void ({ title: 5, categoryId: 2 } satisfies list.CreateTodo);

const tokenOf = (auth: string | undefined) => (auth === undefined ? {} : { auth });

/** `@hey-api/openapi-ts` with its client for `fetch`. */
export const heyApi: Client = {
  create: (body) => list.createTodo({ body }),
  get: (id, tag) =>
    list.getTodo({ path: { id }, headers: tag === undefined ? {} : { 'If-None-Match': tag } }),
  replace: (id, body) => list.replaceTodo({ path: { id }, body }),
  remove: (id, tag, token) =>
    list.deleteTodo({
      path: { id },
      headers: tag === undefined ? {} : { 'If-Match': tag },
      ...tokenOf(token),
    }),
  list: (token) => list.listTodos(tokenOf(token)),
  me: () => list.getMe(),
  complete: (id) => demo.completeTodo({ path: { id } }),
  crash: () => demo.crash(),
};
