import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { test } from '../check.ts';
import { header, type Reply } from '../http.ts';
import { assertProblem, holdsToContract } from '../problem.ts';
import { makeTodo, type SharedList, send } from '../target.ts';

const anonymous = 'Bearer realm="todo-service"';
const invalid = /^Bearer realm="todo-service", error="invalid_token", error_description="[^"\\]+"$/;

/** Specification, Authentication, with the two tokens that every service can be tested with. */
export function authentication(target: SharedList): void {
  const { editor, reader } = target.tokens;
  const endpoints = [
    'GET /me',
    'GET /todos',
    'GET /todos/-1',
    'POST /todos',
    'PUT /todos/-1',
    'DELETE /todos/-1',
  ];
  const good = { title: 'Buy milk', categoryId: 1 };

  describe('Authentication', () => {
    test('What the service does 2, Authentication 1, 2, 5 · every endpoint answers 401 without a token', async () => {
      for (const line of endpoints) {
        const reply = await send(target, line);
        assertProblem(reply, 401, { title: 'Unauthorized', headers: { 'www-authenticate': anonymous } });
      }
    });

    test('A1, R3 · a path in another spelling answers 401 without a token too', async () => {
      for (const line of ['GET /todos/', 'GET /ME']) {
        assertProblem(await send(target, line), 401, { headers: { 'www-authenticate': anonymous } });
      }
    });

    test('A1 · another scheme and Bearer alone are like no token', async () => {
      const values = [
        '',
        'Bearer',
        'Bearer ',
        'bearer',
        'Basic dTpw',
        `Basic ${editor}`,
        `Bearerx ${editor}`,
        editor,
      ];
      for (const authorization of [...values, `Token ${editor}`, `DPoP ${editor}`]) {
        const reply = await send(target, 'GET /todos', { headers: { Authorization: authorization } });
        assertProblem(reply, 401, { headers: { 'www-authenticate': anonymous } });
      }
    });

    test('A1 · a token in the query, the body or another header is like no token', async () => {
      const headers = {
        'X-Access-Token': editor,
        'X-Authorization': `Bearer ${editor}`,
        Cookie: `token=${editor}`,
      };
      const query = `access_token=${editor}&token=${editor}`;
      const read = await send(target, `GET /todos?${query}`, { headers });
      assertProblem(read, 401, { headers: { 'www-authenticate': anonymous } });
      const body = { ...good, access_token: editor };
      const written = await send(target, `POST /todos?${query}`, { headers, json: body });
      assertProblem(written, 401, { headers: { 'www-authenticate': anonymous } });
    });

    test('A2, Authentication 5 · a token that fails is a 401 with invalid_token on every endpoint', async () => {
      const [head = '', payload = '', signature = ''] = editor.split('.');
      const altered = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`;
      for (const token of [
        'x',
        'a.b.c',
        `${head}.${payload}.${altered}`,
        `${head}.${payload}.`,
        `${head}.${payload}`,
      ]) {
        for (const line of endpoints) {
          const challenge = assertRefused(await send(target, line, { token, json: good }));
          assert.ok(!challenge.includes(token), challenge);
        }
      }
    });

    test('A4 · the name of the scheme may be in any letter case', async () => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
        const headers = { Authorization: `${scheme} ${reader}` };
        assert.equal((await send(target, 'GET /todos', { headers })).status, 200, scheme);
      }
    });

    test('A5 · a token in another spelling is refused', async () => {
      const [head = '', payload = '', signature = ''] = editor.split('.');
      const spaced = [`${head}. ${payload}.${signature}`, `${editor} ${editor}`, `${editor},`];
      const padded = [`${head}.${payload}.${signature}=`, `${head}=.${payload}.${signature}`];
      const more = [
        `${editor}.`,
        `.${editor}`,
        `${editor}.${signature}`,
        `"${editor}"`,
        `%65${editor.slice(1)}`,
      ];
      for (const token of [...spaced, ...padded, ...more]) {
        assertRefused(await send(target, 'GET /todos', { token }));
      }
    });

    test('A3, Authentication 3, 5 · without the role editor a write is a 403 that names insufficient_scope', async () => {
      const { id } = await makeTodo(target);
      const challenge = `${anonymous}, error="insufficient_scope"`;
      for (const line of ['POST /todos', `PUT /todos/${id}`, `DELETE /todos/${id}`]) {
        const reply = await send(target, line, { token: reader, json: good });
        assertProblem(reply, 403, { title: 'Forbidden', headers: { 'www-authenticate': challenge } });
      }
    });

    test('Authentication 5 · without the role editor a read has the own result of the endpoint', async () => {
      const { id } = await makeTodo(target);
      for (const line of ['GET /me', 'GET /todos', `GET /todos/${id}`]) {
        assert.equal((await send(target, line, { token: reader })).status, 200, line);
      }
      assertProblem(await send(target, 'GET /todos/2147483647', { token: reader }), 404);
    });

    test('Authentication 5 · with the role editor a valid write is a 201 or a 204', async () => {
      const { id } = await makeTodo(target);
      assert.equal((await send(target, 'POST /todos', { token: editor, json: good })).status, 201);
      assert.equal((await send(target, `PUT /todos/${id}`, { token: editor, json: good })).status, 204);
      assert.equal((await send(target, `DELETE /todos/${id}`, { token: editor })).status, 204);
    });

    test('Authentication 6 · a 403 stays a 403 when it is tried again', async () => {
      for (let times = 0; times < 3; times += 1) {
        assertProblem(await send(target, 'POST /todos', { token: reader, json: good }), 403);
      }
    });

    test('Authentication 9 · no endpoint issues tokens', async () => {
      for (const path of [
        '/token',
        '/oauth/token',
        '/connect/token',
        '/login',
        '/me/token',
        '/auth',
        '/tokens',
      ]) {
        assertProblem(await send(target, `POST ${path}`, { token: editor, json: {} }), 404);
      }
    });
  });
}

/** Checks the 401 of a token that failed (contract A2), and gives its challenge. */
export function assertRefused(reply: Reply): string {
  assertProblem(reply, 401, { title: 'Unauthorized' });
  const challenge = header(reply, 'www-authenticate') ?? '';
  if (holdsToContract()) assert.match(challenge, invalid);
  return challenge;
}
