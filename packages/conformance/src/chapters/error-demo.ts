import assert from 'node:assert/strict';
import { test } from 'node:test';
import { header, json, type Reply } from '../http.ts';
import { assertBody, assertErrorHeaders, assertProblem, byLaw, holdsToContract, it } from '../problem.ts';
import { type ErrorDemo, expecting, send } from '../target.ts';

/** The words of a crash that no response may have, in any environment (contract Errors 3). */
const internals = /\bat .*:\d+:\d+|\.[cm]?[jt]s\b|node:|node_modules|Error:|stack/i;

/** Profile B endpoint by endpoint. Register it before the other suites: its transitions need a fresh service. */
export function errorDemo(target: ErrorDemo): void {
  const { fails, succeeds } = expecting(target);
  if (target.fresh) transitions(target);
  else test.skip('what changes a todo that cannot be changed back [D2; States B]');

  test('answers with the todo: exactly id, title and done, in this order [Resources, Todo; Endpoints B, GET /todos/{id}]', async () => {
    const reply = await send(target, 'GET /todos/1');
    const { done } = json(reply) as { readonly done: unknown };
    assert.equal(typeof done, 'boolean');
    assertTodo(reply, Boolean(done));
  });

  test('a todo that does not exist is a 404 [Endpoints B, GET /todos/{id}; Endpoints B, POST /todos/{id}/complete]', async () => {
    for (const id of ['2', '0', '-1', '2147483647', '-2147483648']) {
      await fails(404, `GET /todos/${id}`, {}, { title: 'Not Found' });
      await fails(404, `POST /todos/${id}/complete`, {}, { title: 'Not Found' });
    }
  });

  test('there is no authentication: whatever Authorization says is ignored [Authentication 10]', async () => {
    for (const authorization of ['', 'Bearer', 'Bearer x', 'Bearer a.b.c', 'Basic dTpw', 'nonsense']) {
      const headers = { Authorization: authorization };
      await succeeds(200, 'GET /todos/1', { headers });
      await fails(404, 'POST /todos/2/complete', { headers }, { headers: { 'www-authenticate': undefined } });
    }
  });

  it('a body and its type are ignored, however malformed [B1]', async () => {
    for (const type of [
      ...[null, '', 'nonsense'],
      ...['application/json', 'application/json; charset=utf-16', 'text/plain'],
    ]) {
      const request = { body: '{"title":', type };
      await succeeds(200, 'GET /todos/1', request);
      await fails(404, 'POST /todos/2/complete', request);
      await fails(404, 'POST /todos/2/complete', { type });
    }
  });

  it('the size limit holds although no body is read [B1; B5]', async () => {
    const body = ' '.repeat(65_537);
    for (const line of ['GET /todos/1', 'POST /todos/2/complete', 'GET /crash']) {
      await fails(413, line, { body }, { detail: 'optional' });
    }
    await succeeds(200, 'GET /todos/1', { body: ' '.repeat(65_536) });
  });

  crash(target);
}

function transitions(target: ErrorDemo): void {
  const { fails } = expecting(target);
  test('starts with exactly one todo, id 1, not done [D2; What the service does 4]', async () => {
    assertTodo(await send(target, 'GET /todos/1'), false);
    for (const id of [0, 2, 3]) await fails(404, `GET /todos/${id}`);
  });

  test('completing a todo answers 200 with the todo done, once; then 409 and nothing changes [Errors 5; States B]', async () => {
    assertTodo(await send(target, 'POST /todos/1/complete'), true);
    assertTodo(await send(target, 'GET /todos/1'), true);
    await fails(409, 'POST /todos/1/complete', {}, { title: 'Todo is already completed', detail: 'any' });
    assertTodo(await send(target, 'GET /todos/1'), true);
  });

  it('completing again is a 409 with any body and in any spelling of the path [B1; R2; R3]', async () => {
    const title = 'Todo is already completed';
    for (const line of ['POST /todos/01/complete', 'POST /TODOS/+1/Complete/']) {
      await fails(409, line, {}, { title, detail: 'any' });
      await fails(409, line, { body: '{', type: 'nonsense' }, { title, detail: 'any' });
    }
  });

  test('detail states that the todo with this id is already complete and cannot be completed again [Errors, 409]', async () => {
    const wanted = { title: 'Todo is already completed', detail: /\b1\b.*already complete/ };
    const { detail } = await fails(409, 'POST /todos/1/complete', {}, wanted);
    assert.match(String(detail), /cannot be completed again/);
  });
}

function crash(target: ErrorDemo): void {
  const { fails, succeeds } = expecting(target);
  test('is a 500 with the headers of the specification [Endpoints B, GET /crash; Errors, 500; P9]', async () => {
    const reply = await succeeds(500, 'GET /crash');
    assertProblem(reply, 500);
    assertErrorHeaders(reply);
  });

  test('neither the message of the exception nor its stack is in the response [Errors 3]', async () => {
    for (const accept of ['*/*', 'application/json', 'text/html', 'text/plain']) {
      const reply = await succeeds(500, 'GET /crash', { accept });
      assert.doesNotMatch(`${JSON.stringify(reply.headers)}${reply.body}`, internals);
    }
  });

  test('a client that does not admit JSON gets a 500 without body and content type [Errors 4; N3]', async () => {
    for (const accept of byLaw(['text/html', 'application/xml', '*/*;q=0'], ['text/html'])) {
      const reply = await succeeds(500, 'GET /crash', { accept });
      assert.equal(reply.body.length, 0);
      if (!holdsToContract()) continue;
      assert.equal(header(reply, 'content-length'), '0');
      assert.equal(header(reply, 'content-type'), undefined);
    }
  });

  test('the service goes on after a crash [Errors 3]', async () => {
    await fails(500, 'GET /crash');
    await succeeds(200, 'GET /todos/1');
  });
}

/** The todo that the demo has, whatever its title. */
function assertTodo(reply: Reply, done: boolean): void {
  const { title } = json(reply) as { readonly title: string };
  assert.match(title, /\S/, 'title');
  assertBody(reply, 200, { id: 1, title, done });
}
