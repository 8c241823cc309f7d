import assert from 'node:assert/strict';
import type { z } from 'zod';
import { zProblemDetails as zDemoProblem, zTodo } from '../made/error-demo/hey-api/zod.gen.ts';
import {
  zCreateTodo,
  zHttpValidationProblemDetails,
  zIdentitySummary,
  zListTodosResponse,
  zProblemDetails,
  zReplaceTodo,
  zTodoResponse,
} from '../made/shared-list/hey-api/zod.gen.ts';
import { demoUrl, editor, listUrl } from '../service.ts';

const TITLES = ['Buy milk', ' x ', 'é', '😀'.repeat(50), 'x'.repeat(100), '\ufeff'];
const NO_TITLES = [
  ...['', ' ', '\t\u2003\u3000\u0085', 'x'.repeat(101), 'a\u0000'],
  ...['\ud800', '\udc00\ud800', 5, null],
];

/** Validators of `zod`, which `@hey-api/openapi-ts` writes: they and the service agree on every body. */
export async function useZod(): Promise<void> {
  const todo: z.infer<typeof zTodoResponse> = zTodoResponse.parse(
    await ask('POST', '/todos', { title: 'x', categoryId: 1 }),
  );
  zListTodosResponse.parse(await ask('GET', '/todos'));
  zIdentitySummary.parse(await ask('GET', '/me'));
  const replacement: z.infer<typeof zReplaceTodo> = { title: 'x', categoryId: 1 };
  assert.ok(zReplaceTodo.safeParse(replacement).success);

  for (const title of [...TITLES, ...NO_TITLES]) {
    const body = { title, categoryId: 1 };
    const answer = await ask('POST', '/todos', body);
    assert.equal(
      zCreateTodo.safeParse(body).success,
      zTodoResponse.safeParse(answer).success,
      JSON.stringify(title),
    );
    if (!zCreateTodo.safeParse(body).success) zHttpValidationProblemDetails.parse(answer);
  }
  zProblemDetails.parse(await ask('GET', '/todos/2147483647'));
  assert.ok(!zProblemDetails.safeParse(todo).success);
  zTodo.parse(await (await fetch(`${demoUrl}/todos/1`)).json());
  zDemoProblem.parse(await (await fetch(`${demoUrl}/crash`)).json());
}

async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
  const headers = { Authorization: `Bearer ${editor}`, 'Content-Type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return (await fetch(listUrl + path, { method, headers, ...sent })).json();
}
