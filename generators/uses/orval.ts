import * as demo from '../made/error-demo/orval.ts';
import * as list from '../made/shared-list/orval.ts';
import { editor } from '../service.ts';
import type { Client } from './client.ts';

// @ts-expect-error the title is a string
void ({ title: 5, categoryId: 2 } satisfies list.CreateTodo);

const optionsOf = (token = editor, headers: Readonly<Record<string, string>> = {}) => ({
  headers: { ...headers, ...(token === '' ? {} : { Authorization: `Bearer ${token}` }) },
});

/** Data of a success, else an error: orval gives either as `data`, told apart by `status`. */
const told = <Response extends { status: number; data: unknown; headers: Headers }>(response: Response) => ({
  response,
  data: (response.status < 400 ? response.data : undefined) as Extract<Response, Success>['data'] | undefined,
  error: (response.status < 400 ? undefined : response.data) as
    | Exclude<Exclude<Response, Success>['data'], void>
    | undefined,
});

interface Success {
  status: 200 | 201 | 204;
}

/** `orval` with its client for `fetch`. */
export const orval: Client = {
  create: async (body) => told(await list.createTodo(body, optionsOf())),
  get: async (id, tag) =>
    told(await list.getTodo(id, optionsOf(editor, tag === undefined ? {} : { 'If-None-Match': tag }))),
  replace: async (id, body) => told(await list.replaceTodo(id, body, optionsOf())),
  remove: async (id, tag, token) =>
    told(await list.deleteTodo(id, optionsOf(token, tag === undefined ? {} : { 'If-Match': tag }))),
  list: async (token) => told(await list.listTodos(optionsOf(token))),
  me: async () => told(await list.getMe(optionsOf())),
  complete: async (id) => told(await demo.completeTodo(id)),
  crash: async () => told(await demo.crash()),
};
