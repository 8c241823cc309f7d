import assert from 'node:assert/strict';
import { test } from 'node:test';
import { header, json } from '../http.ts';
import { assertBody, assertJson, holdsToContract, it } from '../problem.ts';
import {
  expecting,
  listTodos,
  makeTodo,
  milk,
  readTodo,
  type SharedList,
  send,
  type Todo,
} from '../target.ts';

/** Profile A, endpoint by endpoint. */
export function sharedList(target: SharedList): void {
  const { fails, succeeds } = expecting(target);
  const { editor, reader } = target.tokens;
  const missing = '/todos/-1';

  test('answers with the name of the identity and nothing else [Resources, Identity summary; Endpoints A, GET /me]', async () => {
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

  test('answers with an array ordered by id ascending [Endpoints A, GET /todos]', async () => {
    const made: number[] = [];
    for (const title of ['First', 'Second', 'Third']) made.push((await makeTodo(target, title)).id);
    const changed = { title: 'Changed', categoryId: 2 };
    await succeeds(204, `PUT /todos/${made[0]}`, { token: editor, json: changed });
    const reply = await send(target, 'GET /todos', { token: reader });
    assertJson(reply, 200);
    const ids = (json(reply) as Todo[]).map(({ id }) => id);
    const ascending = ids.toSorted((a, b) => a - b);
    assert.deepEqual(ids, ascending);
    const own = ids.filter((id) => made.includes(id));
    assert.deepEqual(own, made);
  });

  test('has exactly id, title, done and categoryId, in this order [Resources, TodoResponse]', async () => {
    const { id } = await makeTodo(target, 'Shape');
    const reply = await send(target, `GET /todos/${id}`, { token: reader });
    const expected = { id, title: 'Shape', done: false, categoryId: 1 };
    assertBody(reply, 200, expected);
    const listed = (await listTodos(target)).filter((todo) => todo.id === id);
    assert.deepEqual(listed, [expected]);
    if (holdsToContract()) assert.equal(JSON.stringify(listed), JSON.stringify([expected]));
  });

  test('a todo that does not exist is a 404 [Endpoints A, GET /todos/{id}]', async () => {
    for (const id of ['2147483647', '0', '-1', '-2147483648']) {
      await fails(404, `GET /todos/${id}`, { token: reader }, { title: 'Not Found' });
    }
  });

  test('answers 201 with the new todo, not done, and its Location [Endpoints A, POST /todos]', async () => {
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

  test('on POST a missing category is a 400 without detail, and no todo is made [Endpoints A, rule 3; Errors, 400]', async () => {
    const before = await listTodos(target);
    const request = { token: editor, json: { title: 'Never made', categoryId: 2147483647 } };
    const expected = { title: 'Category not found', headers: { location: undefined } };
    await fails(400, 'POST /todos', request, expected);
    await assertNoneCalled(target, 'Never made', before);
  });

  test('replaces title, done and categoryId and answers 204, again as well [Endpoints A, PUT /todos/{id}]', async () => {
    const { id } = await makeTodo(target);
    const body = { title: 'Buy bread', done: true, categoryId: 2 };
    for (let times = 0; times < 2; times += 1) {
      await succeeds(204, `PUT /todos/${id}`, { token: editor, json: body });
      assert.deepEqual(await readTodo(target, id), { id, ...body });
    }
  });

  test('never makes a todo: one that does not exist is a 404 [Endpoints A, PUT /todos/{id}]', async () => {
    const body = { title: 'Never made', categoryId: 1 };
    await fails(404, `PUT ${missing}`, { token: editor, json: body }, { title: 'Not Found' });
    assert.equal(await readTodo(target, -1), undefined);
  });

  test('removes the todo and answers 204, then 404 [Endpoints A, DELETE /todos/{id}]', async () => {
    const { id } = await makeTodo(target);
    const other = await makeTodo(target);
    await succeeds(204, `DELETE /todos/${id}`, { token: editor });
    assert.equal(await readTodo(target, id), undefined);
    assert.ok((await listTodos(target)).every((todo) => todo.id !== id));
    await fails(404, `DELETE /todos/${id}`, { token: editor });
    const body = { title: 'Buy milk', categoryId: 1 };
    await fails(404, `PUT /todos/${id}`, { token: editor, json: body });
    assert.deepEqual(await readTodo(target, other.id), other);
  });

  test('without the role a write is a 403 that names insufficient_scope, and nothing takes place [A3; Authentication 3; Authentication 5; Endpoints A, rule 1; Errors, 403]', async () => {
    const todo = await makeTodo(target);
    const before = await listTodos(target);
    const json = { title: 'Never made', done: true, categoryId: 2 };
    const challenge = 'Bearer realm="todo-service", error="insufficient_scope"';
    for (const line of ['POST /todos', `PUT /todos/${todo.id}`, `DELETE /todos/${todo.id}`]) {
      const headers = { 'www-authenticate': challenge };
      await fails(403, line, { token: reader, json }, { title: 'Forbidden', headers });
    }
    assert.deepEqual(await readTodo(target, todo.id), todo);
    await assertNoneCalled(target, 'Never made', before);
  });

  it('the method alone does not ask for the role: HEAD is for every identity [R7]', async () => {
    await succeeds(200, 'HEAD /todos', { token: reader });
  });

  test('deletion is the only way out, done the only state: no endpoint completes a todo [States]', async () => {
    const { id } = await makeTodo(target);
    await fails(404, `POST /todos/${id}/complete`, { token: editor });
    assert.equal((await readTodo(target, id))?.done, false);
  });

  it('an id is never given out again [D5]', async () => {
    const first = await makeTodo(target);
    await succeeds(204, `DELETE /todos/${first.id}`, { token: editor });
    const second = await makeTodo(target);
    assert.ok(second.id > first.id, `${second.id} after ${first.id}`);
  });

  it('todos made at the same time get different ids [D5]', async () => {
    const todos = await Promise.all(Array.from({ length: 12 }, (_, i) => makeTodo(target, `At once ${i}`)));
    assert.equal(new Set(todos.map(({ id }) => id)).size, 12);
    for (const todo of todos) assert.deepEqual(await readTodo(target, todo.id), todo);
  });
}

/** Checks that no todo of this title was added: other clients of the service may add todos meanwhile. */
async function assertNoneCalled(target: SharedList, title: string, before: readonly Todo[]): Promise<void> {
  const known = new Set(before.map(({ id }) => id));
  const made = (await listTodos(target)).filter((todo) => todo.title === title && !known.has(todo.id));
  assert.deepEqual(made, []);
}
