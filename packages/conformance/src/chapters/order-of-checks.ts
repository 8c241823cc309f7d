import assert from 'node:assert/strict';
import { test } from 'node:test';
import { header } from '../http.ts';
import { it } from '../problem.ts';
import { expecting, makeTodo, readTodo, type SharedList } from '../target.ts';

const tooLarge = ' '.repeat(65_537);
const broken = { title: '', categoryId: 0 };

/** Requests with several faults: the first fault in the order is the answer (contract Order 1 to Order 5). */
export function orderOfChecks(target: SharedList): void {
  const { fails, succeeds } = expecting(target);
  const { editor, reader } = target.tokens;

  it('a fault of the transport comes before an unmatched path, a wrong method and a missing token [Order 1]', async () => {
    const headers = { Host: [target.baseUrl.host, target.baseUrl.host] };
    for (const line of ['GET /nope', 'PATCH /todos', 'GET /todos']) {
      await fails(400, line, { headers }, { detail: 'any' });
    }
  });

  it('an unknown path, an id that is none and a wrong method answer the same with or without a token [Order 2]', async () => {
    for (const token of [editor, reader, 'not-a-token', undefined]) {
      const request = { ...(token === undefined ? {} : { token }), body: tooLarge, type: 'text/plain' };
      const headers = { 'www-authenticate': undefined };
      await fails(404, 'POST /nope', request, { headers });
      await fails(404, 'PUT /todos/abc', request, { headers });
      await fails(405, 'PATCH /todos', request, { headers });
    }
  });

  test('a missing token or role comes before whatever is wrong with the body or the todo [Order 3; Endpoints A, rule 1]', async () => {
    for (const [status, identity] of [
      [401, {}],
      [403, { token: reader }],
    ] as const) {
      for (const line of ['POST /todos', 'PUT /todos/-1']) {
        await fails(status, line, { ...identity, body: '{', type: 'text/plain' });
        await fails(status, line, { ...identity, body: tooLarge });
        await fails(status, line, { ...identity, json: broken });
      }
      await fails(status, 'DELETE /todos/-1', identity);
    }
  });

  it('the media type comes before the size, the size before the form, the form before the rules [Order 4]', async () => {
    const token = editor;
    const detail = 'optional';
    for (const line of ['POST /todos', 'PUT /todos/-1']) {
      await fails(415, line, { token, body: tooLarge, type: 'text/plain' }, { detail: 'any' });
      await fails(413, line, { token, body: `{${tooLarge}` }, { detail });
      await fails(400, line, { token, body: '{"title":"","categoryId":0' }, { detail: 'any' });
      await fails(400, line, { token, json: broken }, { errors: ['title', 'categoryId'] });
    }
  });

  it('a malformed If-Match or If-None-Match is a 400 on every endpoint, behind the rules of a body [Order 4]', async () => {
    const todo = await makeTodo(target);
    const json = { title: 'Buy milk', categoryId: 1 };
    for (const [line, request] of [
      ['GET /me', {}],
      ['GET /todos', {}],
      [`GET /todos/${todo.id}`, {}],
      ['POST /todos', { json }],
      [`PUT /todos/${todo.id}`, { json }],
      [`DELETE /todos/${todo.id}`, {}],
    ] as const) {
      for (const name of ['If-Match', 'If-None-Match']) {
        const sent = { ...request, token: editor, headers: { [name]: 'abc' } };
        await fails(400, line, sent, { detail: /If-Match and If-None-Match/ });
        if ('json' in request)
          await fails(400, line, { ...sent, json: broken }, { errors: ['title', 'categoryId'] });
      }
    }
    assert.deepEqual(await readTodo(target, todo.id), todo);
  });

  it('a create takes no precondition: a well-formed one is a 400 whose detail says so, before what the store knows [Order 4]', async () => {
    for (const [name, value] of [
      ['If-None-Match', '*'],
      ['If-None-Match', '"5d41402abc4b2a76b9719d911017c592"'],
      ['If-Match', '*'],
      ['If-Match', 'W/"a", "b"'],
    ] as const) {
      for (const categoryId of [1, 2147483647]) {
        const sent = { token: editor, json: { title: 'Buy milk', categoryId }, headers: { [name]: value } };
        await fails(400, 'POST /todos', sent, { detail: /POST .* no precondition/ });
      }
    }
  });

  it('GET /me has no tag: a well-formed precondition is ignored [Order 4]', async () => {
    for (const headers of [{ 'If-Match': '"a"' }, { 'If-None-Match': '*' }, { 'If-None-Match': '"a"' }]) {
      await succeeds(200, 'GET /me', { token: reader, headers });
    }
  });

  it('a tag that a proxy has changed counts for a read as the one that it was made of, and for no write [Order 5]', async () => {
    const { id } = await makeTodo(target);
    const path = `/todos/${id}`;
    const etag = header(await succeeds(200, `GET ${path}`, { token: reader }), 'etag') ?? '';
    assert.match(etag, /^"[0-9a-f]{32}"$/);
    const json = { title: 'Buy milk', categoryId: 1 };
    for (const suffix of ['-gzip', '-br', ';gzip', '-x/1']) {
      for (const tag of [`${etag.slice(0, -1)}${suffix}"`, `W/${etag.slice(0, -1)}${suffix}"`]) {
        for (const method of ['GET', 'HEAD']) {
          const headers = { 'If-None-Match': `"x", ${tag}` };
          const unchanged = await succeeds(304, `${method} ${path}`, { token: reader, headers }, tag);
          assert.equal(header(unchanged, 'etag'), etag);
        }
        const headers = { 'If-Match': `W/"x", ${tag}` };
        await fails(412, `PUT ${path}`, { token: editor, json, headers }, { detail: 'any' });
        await fails(412, `DELETE ${path}`, { token: editor, headers }, { detail: 'any' });
        await succeeds(204, `PUT ${path}`, { token: editor, json, headers: { 'If-None-Match': tag } }, tag);
      }
    }
    await fails(412, `PUT ${path}`, { token: editor, json, headers: { 'If-Match': '"x"' } });
  });

  test('on PUT the missing todo comes before the missing category [Order 5; Endpoints A, rule 2]', async () => {
    const json = { title: 'Buy milk', categoryId: 2147483647 };
    const todo = await makeTodo(target);
    await fails(404, 'PUT /todos/-1', { token: editor, json });
    const title = 'Category not found';
    await fails(400, `PUT /todos/${todo.id}`, { token: editor, json }, { title });
    assert.deepEqual(await readTodo(target, todo.id), todo);
  });
}
