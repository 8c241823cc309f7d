import { test } from 'node:test';
import { assertBody } from '../problem.ts';
import { expecting, send, type Target } from '../target.ts';

/** A service without earlier requests: register it before all other suites. */
export function firstStart(target: Target): void {
  const { fails, succeeds } = expecting(target);
  if (target.profile === 'error-demo') return;
  const { editor, reader } = target.tokens;

  test('an empty array when there are no todos [Endpoints A, GET /todos]', async () => {
    const reply = await send(target, 'GET /todos', { token: reader });
    assertBody(reply, 200, []);
  });

  test('there are two categories, 1 and 2 [D7; What the service does 3]', async () => {
    for (const categoryId of [1, 2]) {
      const request = { token: editor, json: { title: 'Buy milk', categoryId } };
      await succeeds(201, 'POST /todos', request);
    }
    const request = { token: editor, json: { title: 'Buy milk', categoryId: 3 } };
    await fails(400, 'POST /todos', request, { title: 'Category not found' });
  });
}
