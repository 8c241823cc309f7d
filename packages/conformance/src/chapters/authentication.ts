import assert from 'node:assert/strict';
import { test } from 'node:test';
import { header, type Reply } from '../http.ts';
import { assertProblem, holdsToContract, it } from '../problem.ts';
import { expecting, makeTodo, type SharedList, send } from '../target.ts';

const anonymous = 'Bearer realm="todo-service"';
const challenged = { headers: { 'www-authenticate': anonymous } };
const invalid = /^Bearer realm="todo-service", error="invalid_token", error_description="[^"\\]+"$/;

/** Authentication, with the two tokens that every service can be tested with. */
export function authentication(target: SharedList): void {
  const { fails, succeeds } = expecting(target);
  const { editor, reader } = target.tokens;
  const endpoints = [
    ...['GET /me', 'GET /todos', 'GET /todos/-1'],
    ...['POST /todos', 'PUT /todos/-1', 'DELETE /todos/-1'],
  ];
  const good = { title: 'Buy milk', categoryId: 1 };

  test('every endpoint answers 401 without a token [What the service does 2; Authentication 1; Authentication 2; Authentication 5; Errors, 401]', async () => {
    for (const line of endpoints) {
      await fails(401, line, {}, { title: 'Unauthorized', ...challenged });
    }
  });

  it('a path in another spelling answers 401 without a token too [A1; R3]', async () => {
    for (const line of ['GET /todos/', 'GET /ME']) {
      await fails(401, line, {}, challenged);
    }
  });

  it('another scheme and Bearer alone are like no token [A1]', async () => {
    const schemes = ['Basic', 'Bearerx', 'Token', 'DPoP'].map((scheme) => `${scheme} ${editor}`);
    for (const Authorization of ['', 'Bearer', 'Bearer ', 'bearer', 'Basic dTpw', editor, ...schemes]) {
      await fails(401, 'GET /todos', { headers: { Authorization } }, challenged);
    }
  });

  it('a token in the query, the body or another header is like no token [A1]', async () => {
    const headers = {
      'X-Access-Token': editor,
      'X-Authorization': `Bearer ${editor}`,
      Cookie: `token=${editor}`,
    };
    const query = `access_token=${editor}&token=${editor}`;
    await fails(401, `GET /todos?${query}`, { headers }, challenged);
    const body = { ...good, access_token: editor };
    await fails(401, `POST /todos?${query}`, { headers, json: body }, challenged);
  });

  test('a token that fails is a 401 with invalid_token on every endpoint [A2; Authentication 5]', async () => {
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

  it('the name of the scheme may be in any letter case [A4]', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
      const headers = { Authorization: `${scheme} ${reader}` };
      await succeeds(200, 'GET /todos', { headers }, scheme);
    }
  });

  it('a token in another spelling is refused [A5]', async () => {
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

  test('without the role editor a read has the own result of the endpoint [Authentication 5]', async () => {
    const { id } = await makeTodo(target);
    for (const line of ['GET /me', 'GET /todos', `GET /todos/${id}`]) {
      await succeeds(200, line, { token: reader });
    }
    await fails(404, 'GET /todos/2147483647', { token: reader });
  });

  test('a 403 stays a 403 when it is tried again [Authentication 6]', async () => {
    for (let times = 0; times < 3; times += 1) {
      await fails(403, 'POST /todos', { token: reader, json: good });
    }
  });

  test('no endpoint issues tokens [Authentication 9]', async () => {
    for (const path of [
      ...['/token', '/oauth/token', '/connect/token', '/login'],
      ...['/me/token', '/auth', '/tokens'],
    ]) {
      await fails(404, `POST ${path}`, { token: editor, json: {} });
    }
  });
}

/** Checks the 401 of a token that failed (contract A2), and gives its challenge. */
export function assertRefused(reply: Reply): string {
  assertProblem(reply, 401, { title: 'Unauthorized' });
  const challenge = header(reply, 'www-authenticate') ?? '';
  if (holdsToContract()) assert.match(challenge, invalid);
  return challenge;
}
