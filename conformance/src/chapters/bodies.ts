import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { test } from '../check.ts';
import { header, json } from '../http.ts';
import { assertProblem } from '../problem.ts';
import { makeTodo, milk, readTodo, type SharedList, send, type Todo } from '../target.ts';

const good = '{"title":"Buy milk","categoryId":1}';

/** What a request with a body may send, before the rules of its members: contract B1 to B7. */
export function bodies(target: SharedList): void {
  const { editor, reader } = target.tokens;
  const token = editor;

  /** POST and PUT read a body alike: the two lines, and the status of a success. */
  async function both(): Promise<readonly (readonly [line: string, success: number])[]> {
    const { id } = await makeTodo(target);
    return [
      ['POST /todos', 201],
      [`PUT /todos/${id}`, 204],
    ];
  }

  describe('Requests with a body', () => {
    test('B1 · where no body is read, a body and its type are ignored, however malformed', async () => {
      const request = { body: '{"title":', type: 'application/json; charset=utf-16' };
      const { id } = await makeTodo(target);
      for (const line of ['GET /todos', `GET /todos/${id}`, 'GET /me']) {
        assert.equal((await send(target, line, { token: reader, ...request })).status, 200, line);
      }
      assert.equal((await send(target, `DELETE /todos/${id}`, { token, ...request })).status, 204);
    });

    test('B1 · an empty or nonsensical Content-Type is ignored where no body is read', async () => {
      for (const type of ['', 'nonsense', ';;', 'multipart/form-data']) {
        const { id } = await makeTodo(target);
        const reply = await send(target, `DELETE /todos/${id}`, { token, type });
        assert.equal(reply.status, 204, `Content-Type: ${type}`);
      }
    });

    test('B1, B5 · the size limit holds where no body is read', async () => {
      const { id } = await makeTodo(target);
      const body = ' '.repeat(65_537);
      for (const line of ['GET /todos', 'GET /me', `DELETE /todos/${id}`]) {
        assertProblem(await send(target, line, { token, body }), 413, { detail: 'optional' });
      }
      assert.notEqual(await readTodo(target, id), undefined);
    });

    test('B2 · JSON in any spelling of its media type is read', async () => {
      const accepted = [
        'application/json',
        'APPLICATION/Json',
        'application/merge-patch+json',
        'application/json;v=1',
      ];
      const utf8 = ['charset=utf-8', 'charset=UTF-8', 'Charset="utf-8"', 'v=1;charset="Utf-8"'];
      for (const type of [...accepted, ...utf8.map((charset) => `application/json; ${charset}`)]) {
        for (const [line, success] of await both()) {
          assert.equal((await send(target, line, { token, body: good, type })).status, success, type);
        }
      }
    });

    test('B2 · another media type or charset is a 415', async () => {
      const others = [
        'text/plain',
        'text/json',
        'application/xml',
        'application/jsonx',
        'application/x-www-form-urlencoded',
      ];
      const charsets = ['utf-16', 'iso-8859-1', '"us-ascii"', 'bogus'];
      const malformed = ['', 'json', 'application/', '/json', 'application/json, text/plain'];
      for (const type of [
        ...others,
        ...charsets.map((one) => `application/json; charset=${one}`),
        ...malformed,
      ]) {
        for (const [line] of await both()) {
          const reply = await send(target, line, { token, body: good, type });
          assert.equal(reply.status, 415, `Content-Type: ${type}`);
          assertProblem(reply, 415, { detail: 'optional' });
        }
      }
    });

    test('B2 · a missing media type is a 415, with an empty body too', async () => {
      for (const [line] of await both()) {
        for (const body of [good, '', undefined]) {
          const request = body === undefined ? { token } : { token, body, type: null };
          assertProblem(await send(target, line, request), 415, { detail: 'optional' });
        }
      }
    });

    test('B3 · bytes that are not UTF-8 are a 400', async () => {
      const sequences = ['ff', 'c328', 'c0af', 'eda080', 'f4908080', 'e282'];
      for (const hex of sequences) {
        for (const [line] of await both()) {
          const body = Buffer.concat([
            Buffer.from('{"title":"a'),
            Buffer.from(hex, 'hex'),
            Buffer.from('","categoryId":1}'),
          ]);
          assertProblem(await send(target, line, { token, body }), 400, { detail: 'any' });
        }
      }
    });

    test('B3 · a byte order mark before the body is skipped', async () => {
      for (const [line, success] of await both()) {
        const body = `\u{feff}${good}`;
        assert.equal((await send(target, line, { token, body })).status, success);
        assertProblem(await send(target, line, { token, body: `\u{feff}${body}` }), 400, { detail: 'any' });
      }
    });

    test('B4 · what is not JSON is a 400 that says where, and never quotes the body', async () => {
      const wrong: readonly (readonly [body: string, line: number, column: number])[] = [
        ['{"title":"secret",}', 1, 19],
        ['{"title":"secret"\n  "categoryId":1}', 2, 3],
        ["{'secret':1}", 1, 2],
        ['{"title":secret}', 1, 10],
        ['{"title":"secret"} secret', 1, 20],
        ['\n\n// secret\n{}', 3, 1],
        ['{"é😀":"secret",]', 1, 16],
      ];
      for (const [body, line, column] of wrong) {
        for (const [request] of await both()) {
          const reply = await send(target, request, { token, body });
          const { detail } = assertProblem(reply, 400, { title: 'Bad Request', detail: 'any' });
          assert.match(String(detail), new RegExp(`line ${line}\\b.*column ${column}\\b`, 'i'), body);
          assert.doesNotMatch(String(detail), /secret/);
        }
      }
    });

    test('B4 · an escape outside of strings is not JSON', async () => {
      const wrong: readonly string[] = [
        '\\u007b"title":"a","categoryId":1}',
        '{"title"\\u003a"a"\\u002c"categoryId"\\u003a\\u0031\\u007d',
        '{"title":"a",\\u0020"categoryId":1}',
        '{"title":"a","categoryId":1,"done":\\u0074rue}',
        '\\u005b'.repeat(5000),
      ];
      for (const body of wrong) {
        for (const [line] of await both()) {
          assertProblem(await send(target, line, { token, body }), 400, {
            title: 'Bad Request',
            detail: 'any',
          });
        }
      }
    });

    test('B4 · JSON that ends too early is a 400 that says so', async () => {
      for (const body of ['', ' \n', '{', '{"title":"a', '{"title":"\\u00', '{"title":"a","categoryId":1']) {
        for (const [line] of await both()) {
          assertProblem(await send(target, line, { token, body }), 400, {
            title: 'Bad Request',
            detail: 'any',
          });
        }
      }
    });

    test('B4 · JSON that is not an object is a 400', async () => {
      for (const body of ['null', 'true', '1', '"secret"', '[]', `[${good}]`]) {
        for (const [line] of await both()) {
          const { detail } = assertProblem(await send(target, line, { token, body }), 400, {
            detail: /object/,
          });
          assert.doesNotMatch(String(detail), /secret/);
        }
      }
    });

    test('B5 · a body of 64 KiB is read, one byte more is a 413', async () => {
      for (const [line, success] of await both()) {
        const full = good + ' '.repeat(65_536 - good.length);
        assert.equal((await send(target, line, { token, body: full })).status, success);
        assertProblem(await send(target, line, { token, body: `${full} ` }), 413, { detail: 'optional' });
      }
    });

    test('B5 · the limit holds for a body in chunks', async () => {
      const headers = { 'Transfer-Encoding': 'chunked', 'Content-Type': 'application/json' };
      const full = good + ' '.repeat(65_536 - good.length);
      const inside = `1000\r\n${full.slice(0, 0x1000)}\r\nf000\r\n${full.slice(0x1000)}\r\n0\r\n\r\n`;
      const beyond = `10000\r\n${full}\r\n1\r\n \r\n0\r\n\r\n`;
      for (const [line, success] of await both()) {
        assert.equal((await send(target, line, { token, headers, framed: inside })).status, success);
        const reply = await send(target, line, { token, headers, framed: beyond });
        assertProblem(reply, 413, { detail: 'optional' });
      }
    });

    test('B5 · a 413 closes the connection', async () => {
      for (const [line] of await both()) {
        const reply = await send(target, line, {
          token,
          body: ' '.repeat(65_537),
          headers: { Connection: 'keep-alive' },
        });
        assertProblem(reply, 413, { detail: 'optional', headers: { connection: 'close' } });
      }
    });

    test('B5 · the 413 arrives although the client is still sending', async () => {
      for (const [line] of await both()) {
        const reply = await send(target, line, { token, body: ' '.repeat(900_000) });
        assertProblem(reply, 413, { detail: 'optional' });
      }
    });

    test('B5 · 64 levels of nesting are read, one more is a 400', async () => {
      // The object itself is the first level.
      const nested = (levels: number, [open, close]: readonly [string, string]) =>
        `{"title":"Buy milk","categoryId":1,"x":${open.repeat(levels - 1)}1${close.repeat(levels - 1)}}`;
      for (const brackets of [
        ['[', ']'],
        ['{"a":', '}'],
      ] as const) {
        for (const [line, success] of await both()) {
          assert.equal((await send(target, line, { token, body: nested(64, brackets) })).status, success);
          const tooDeep = await send(target, line, { token, body: nested(65, brackets) });
          assertProblem(tooDeep, 400, { detail: 'any' });
          const absurd = await send(target, line, { token, body: nested(5_000, brackets) });
          assertProblem(absurd, 400, { detail: 'any' });
        }
      }
    });

    test('B5 · brackets within a string are not levels of nesting', async () => {
      const body = `{"title":"Buy milk","categoryId":1,"x":"\\"${'['.repeat(200)}"}`;
      for (const [line, success] of await both()) {
        assert.equal((await send(target, line, { token, body })).status, success);
      }
    });

    test('B6 · unknown members are ignored and never stored', async () => {
      const unknown = '"id":77,"role":"editor","ID":3,"":0,"constructor":1,"prototype":{},"toString":null';
      const body = `{"__proto__":{"title":"no"},"title":"Buy milk","done":true,"categoryId":1,${unknown}}`;
      const made = await send(target, 'POST /todos', { token, body });
      assert.equal(made.status, 201);
      const { id } = json(made) as Todo;
      assert.notEqual(id, 77);
      assert.equal(made.body.toString(), JSON.stringify(milk(id)));
      assert.equal((await send(target, `PUT /todos/${id}`, { token, body })).status, 204);
      assert.deepEqual(await readTodo(target, id), milk(id, { done: true }));
    });

    test('B6 · members are never taken from __proto__ or constructor', async () => {
      for (const [line] of await both()) {
        const body = '{"__proto__":{"title":"no","categoryId":1},"constructor":{"prototype":{"title":"no"}}}';
        const errors = ['title', 'categoryId'];
        assertProblem(await send(target, line, { token, body }), 400, { errors });
      }
    });

    test('B6, Authentication 4 · a role in the body or in a header is never trusted', async () => {
      const todo = await makeTodo(target);
      const body = '{"title":"no","categoryId":1,"role":"editor","roles":["editor"]}';
      const headers = { Role: 'editor', 'X-Role': 'editor', 'X-Roles': 'editor', 'X-User-Role': 'editor' };
      for (const line of ['POST /todos', `PUT /todos/${todo.id}`, `DELETE /todos/${todo.id}`]) {
        assertProblem(await send(target, line, { token: reader, body, headers }), 403);
        assertProblem(await send(target, line, { body, headers }), 401);
      }
      assert.deepEqual(await readTodo(target, todo.id), todo);
    });

    test('B7 · of a member that is there twice the last one counts', async () => {
      const body = '{"title":"","title":"Second","categoryId":"no","categoryId":2}';
      const made = await send(target, 'POST /todos', { token, body });
      assert.equal(made.status, 201);
      const { id, title, categoryId } = json(made) as Todo;
      assert.deepEqual({ title, categoryId }, { title: 'Second', categoryId: 2 });
      const worse = '{"title":"Second","title":"","categoryId":2}';
      assertProblem(await send(target, `PUT /todos/${id}`, { token, body: worse }), 400, {
        errors: ['title'],
      });
    });

    test('D4 · a 204 has neither body nor content type', async () => {
      const { id } = await makeTodo(target);
      for (const [line, body] of [
        [`PUT /todos/${id}`, good],
        [`DELETE /todos/${id}`, undefined],
      ] as const) {
        const reply = await send(target, line, { token, ...(body === undefined ? {} : { body }) });
        assert.equal(reply.status, 204);
        for (const name of ['content-type', 'content-length', 'transfer-encoding']) {
          assert.equal(header(reply, name), undefined, name);
        }
      }
    });
  });
}
