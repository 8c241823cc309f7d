import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { test } from '../check.ts';
import { header, json } from '../http.ts';
import { assertBody, assertJson, assertProblem, holdsToContract } from '../problem.ts';
import { makeTodo, milk, readTodo, type SharedList, send, type Todo } from '../target.ts';

/** Profile A endpoint by endpoint: specification, Resources, States and transitions, Endpoints. */
export function sharedList(target: SharedList): void {
  const { editor, reader } = target.tokens;
  const missing = '/todos/-1';

  describe('Shared list', () => {
    test('Endpoints A, GET /me · answers with the name of the identity and nothing else', async () => {
      for (const token of [editor, reader]) {
        const reply = await send(target, 'GET /me', { token });
        assertJson(reply, 200);
        const members = Object.entries(json(reply) as Readonly<Record<string, unknown>>);
        assert.equal(members.length, 1, reply.body.toString());
        for (const [member, name] of members) {
          if (holdsToContract()) assert.equal(member, 'name');
          assert.match(member, /^[a-z]+(?:[A-Z][a-z]*)*$/);
          assert.ok(name === null || typeof name === 'string', member);
        }
      }
    });

    test('Endpoints A, GET /todos · answers with an array ordered by id ascending', async () => {
      const made = [
        await makeTodo(target, 'First'),
        await makeTodo(target, 'Second'),
        await makeTodo(target, 'Third'),
      ];
      await send(target, `PUT /todos/${made[0]?.id}`, {
        token: editor,
        json: { title: 'Changed', categoryId: 2 },
      });
      const reply = await send(target, 'GET /todos', { token: reader });
      assertJson(reply, 200);
      const list = json(reply) as Todo[];
      const ids = list.map(({ id }) => id);
      assert.deepEqual(
        ids,
        [...ids].sort((a, b) => a - b),
      );
      assert.deepEqual(
        ids.filter((id) => made.some((todo) => todo.id === id)),
        made.map(({ id }) => id),
      );
    });

    test('Resources, TodoResponse · has exactly id, title, done and categoryId, in this order', async () => {
      const { id } = await makeTodo(target, 'Shape');
      const reply = await send(target, `GET /todos/${id}`, { token: reader });
      const expected = { id, title: 'Shape', done: false, categoryId: 1 };
      assertBody(reply, 200, expected);
      const list = json(await send(target, 'GET /todos', { token: reader })) as Todo[];
      const listed = list.filter((todo) => todo.id === id);
      assert.deepEqual(listed, [expected]);
      if (holdsToContract()) assert.equal(JSON.stringify(listed), JSON.stringify([expected]));
    });

    test('Endpoints A, GET /todos/{id} · a todo that does not exist is a 404', async () => {
      for (const id of ['2147483647', '0', '-1', '-2147483648']) {
        assertProblem(await send(target, `GET /todos/${id}`, { token: reader }), 404, { title: 'Not Found' });
      }
    });

    test('Endpoints A, POST /todos · answers 201 with the new todo, not done, and its Location', async () => {
      const body = { title: 'Buy milk', categoryId: 2 };
      const reply = await send(target, 'POST /todos', { token: editor, json: body });
      assertJson(reply, 201);
      const { id } = json(reply) as Todo;
      assert.ok(Number.isInteger(id) && Math.abs(id) <= 2147483647, `id ${id}`);
      if (holdsToContract()) assert.ok(id >= 1, `id ${id}`);
      assertBody(reply, 201, milk(id, { categoryId: 2 }));
      assert.equal(header(reply, 'location'), `/todos/${id}`);
      assert.deepEqual(await readTodo(target, id), milk(id, { categoryId: 2 }));
    });

    test('Endpoints A, rule 3 · on POST a missing category is a 400 without detail, and no todo is made', async () => {
      const before = await idsNow(target);
      const body = { title: 'Never made', categoryId: 2147483647 };
      const reply = await send(target, 'POST /todos', { token: editor, json: body });
      assertProblem(reply, 400, { title: 'Category not found', headers: { location: undefined } });
      await assertNoneCalled(target, 'Never made', before);
    });

    test('Endpoints A, PUT /todos/{id} · replaces title, done and categoryId and answers 204', async () => {
      const { id } = await makeTodo(target);
      const body = { title: 'Buy bread', done: true, categoryId: 2 };
      const reply = await send(target, `PUT /todos/${id}`, { token: editor, json: body });
      assert.equal(reply.status, 204);
      assert.deepEqual(await readTodo(target, id), { id, ...body });
    });

    test('Endpoints A, PUT /todos/{id} · the same replacement again gives the same todo', async () => {
      const { id } = await makeTodo(target);
      const body = { title: 'Buy bread', done: true, categoryId: 2 };
      for (let times = 0; times < 2; times += 1) {
        assert.equal((await send(target, `PUT /todos/${id}`, { token: editor, json: body })).status, 204);
        assert.deepEqual(await readTodo(target, id), { id, ...body });
      }
    });

    test('Endpoints A, PUT /todos/{id} · never makes a todo: one that does not exist is a 404', async () => {
      const body = { title: 'Never made', categoryId: 1 };
      assertProblem(await send(target, `PUT ${missing}`, { token: editor, json: body }), 404, {
        title: 'Not Found',
      });
      assert.equal(await readTodo(target, -1), undefined);
    });

    test('Endpoints A, DELETE /todos/{id} · removes the todo and answers 204, then 404', async () => {
      const { id } = await makeTodo(target);
      const other = await makeTodo(target);
      assert.equal((await send(target, `DELETE /todos/${id}`, { token: editor })).status, 204);
      assert.equal(await readTodo(target, id), undefined);
      assert.ok(!(await idsNow(target)).includes(id));
      assertProblem(await send(target, `DELETE /todos/${id}`, { token: editor }), 404);
      const body = { title: 'Buy milk', categoryId: 1 };
      assertProblem(await send(target, `PUT /todos/${id}`, { token: editor, json: body }), 404);
      assert.deepEqual(await readTodo(target, other.id), other);
    });

    test('Endpoints A, rule 1 · without the role no create, update or delete takes place', async () => {
      const todo = await makeTodo(target);
      const before = await idsNow(target);
      const body = { title: 'Never made', done: true, categoryId: 2 };
      assertProblem(await send(target, 'POST /todos', { token: reader, json: body }), 403);
      assertProblem(await send(target, `PUT /todos/${todo.id}`, { token: reader, json: body }), 403);
      assertProblem(await send(target, `DELETE /todos/${todo.id}`, { token: reader }), 403);
      assert.deepEqual(await readTodo(target, todo.id), todo);
      await assertNoneCalled(target, 'Never made', before);
    });

    test('R7 · the method alone does not ask for the role: HEAD is for every identity', async () => {
      assert.equal((await send(target, 'HEAD /todos', { token: reader })).status, 200);
    });

    test('States · deletion is the only way out, done the only state: no endpoint completes a todo', async () => {
      const { id } = await makeTodo(target);
      assertProblem(await send(target, `POST /todos/${id}/complete`, { token: editor }), 404);
      assert.equal((await readTodo(target, id))?.done, false);
    });

    test('D5 · an id is never given out again', async () => {
      const first = await makeTodo(target);
      assert.equal((await send(target, `DELETE /todos/${first.id}`, { token: editor })).status, 204);
      const second = await makeTodo(target);
      assert.ok(second.id > first.id, `${second.id} after ${first.id}`);
    });

    test('D5 · todos made at the same time get different ids', async () => {
      const todos = await Promise.all(Array.from({ length: 12 }, (_, i) => makeTodo(target, `At once ${i}`)));
      assert.equal(new Set(todos.map(({ id }) => id)).size, 12);
      for (const todo of todos) assert.deepEqual(await readTodo(target, todo.id), todo);
    });
  });
}

async function idsNow(target: SharedList): Promise<readonly number[]> {
  const reply = await send(target, 'GET /todos', { token: target.tokens.reader });
  return (json(reply) as Todo[]).map(({ id }) => id);
}

/** Somebody else's service may get todos meanwhile: only those of this title count. */
async function assertNoneCalled(target: SharedList, title: string, before: readonly number[]): Promise<void> {
  const reply = await send(target, 'GET /todos', { token: target.tokens.reader });
  const made = (json(reply) as Todo[]).filter((todo) => todo.title === title && !before.includes(todo.id));
  assert.deepEqual(made, []);
}
