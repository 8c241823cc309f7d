import assert from 'node:assert/strict';
import { test } from 'node:test';
import { header, json } from '../http.ts';
import { type Expected, it } from '../problem.ts';
import { expecting, makeTodo, milk, type Request, readTodo, type SharedList, type Todo } from '../target.ts';

const good = '{"title":"Buy milk","categoryId":1}';
const full = good + ' '.repeat(65_536 - good.length);
const tooLarge = { detail: 'optional' } as const;

/** Requests with a body, before the rules of its members (contract B1 to B7). */
export function bodies(target: SharedList): void {
  const { fails, succeeds } = expecting(target);
  const { editor: token, reader } = target.tokens;

  /** Sends each request to POST and to PUT, which read a body alike. Both must take it. */
  async function bothTake(requests: readonly Request[]): Promise<void> {
    const { id } = await makeTodo(target);
    for (const request of requests) {
      const about = JSON.stringify(request).slice(0, 200);
      await succeeds(201, 'POST /todos', { token, ...request }, about);
      await succeeds(204, `PUT /todos/${id}`, { token, ...request }, about);
    }
  }

  /** Sends each request to POST and to PUT. Both must refuse it. Gives the details. */
  async function bothRefuse(
    status: number,
    requests: readonly Request[],
    expected: Expected,
  ): Promise<string[]> {
    const { id } = await makeTodo(target);
    const details: string[] = [];
    for (const request of requests) {
      for (const line of ['POST /todos', `PUT /todos/${id}`]) {
        const { detail } = await fails(status, line, { token, ...request }, expected);
        details.push(String(detail));
      }
    }
    return details;
  }

  const withBody = (body: string | Buffer) => ({ body });
  const ofType = (type: string) => ({ body: good, type });

  it('where no body is read, a body and its type are ignored, however malformed [B1]', async () => {
    const request = { body: '{"title":', type: 'application/json; charset=utf-16' };
    const { id } = await makeTodo(target);
    for (const line of ['GET /todos', `GET /todos/${id}`, 'GET /me']) {
      await succeeds(200, line, { token: reader, ...request });
    }
    await succeeds(204, `DELETE /todos/${id}`, { token, ...request });
  });

  it('an empty or nonsensical Content-Type is ignored where no body is read [B1]', async () => {
    for (const type of ['', 'nonsense', ';;', 'multipart/form-data']) {
      const { id } = await makeTodo(target);
      await succeeds(204, `DELETE /todos/${id}`, { token, type }, `Content-Type: ${type}`);
    }
  });

  it('the size limit holds where no body is read [B1; B5]', async () => {
    const { id } = await makeTodo(target);
    for (const line of ['GET /todos', 'GET /me', `DELETE /todos/${id}`]) {
      await fails(413, line, { token, body: ' '.repeat(65_537) }, tooLarge);
    }
    assert.notEqual(await readTodo(target, id), undefined);
  });

  it('JSON in any spelling of its media type is read [B2]', async () => {
    const named = ['utf-8', 'UTF-8', '"utf-8"', '"Utf-8"', 'utf8', 'UTF8', '"Utf8"'];
    const utf8 = [...named.map((name) => `charset=${name}`), 'Charset=utf-8', 'v=1;charset=utf-8', 'v=1'];
    const types = ['application/json', 'APPLICATION/Json', 'application/merge-patch+json'];
    await bothTake([...types, ...utf8.map((charset) => `application/json; ${charset}`)].map(ofType));
  });

  it('a body in the coding identity is read: it is none [B2]', async () => {
    const codings = ['identity', 'IDENTITY'];
    await bothTake(codings.map((coding) => ({ body: good, headers: { 'Content-Encoding': coding } })));
  });

  it('another media type or charset, a coding, and no type, is a 415 whose detail says which, with an empty body too [B2]', async () => {
    const charsets = ['utf-16', 'iso-8859-1', '"us-ascii"', 'bogus'];
    const types = [
      ...['text/plain', 'text/json', 'application/xml', 'application/jsonx'],
      ...['application/x-www-form-urlencoded', 'json', 'application/', '/json'],
      ...['application/json, text/plain', 'text/plain; charset=utf-16'],
    ];
    const encoded = (coding: string, type = 'application/json') => ({
      ...ofType(type),
      headers: { 'Content-Encoding': coding },
    });
    const causes: readonly (readonly [requests: readonly Request[], type: boolean])[] = [
      [[{ body: good, type: null }, { body: '', type: null }, {}], true],
      [[...types.map(ofType), encoded('gzip', 'text/plain')], true],
      [charsets.map((one) => ofType(`application/json; charset=${one}`)), true],
      [['gzip', 'br', 'x', 'identity, gzip'].map((coding) => encoded(coding)), false],
    ];
    const said = new Set<string>();
    for (const [requests, isType] of causes) {
      const accepted = isType ? 'application/json' : undefined;
      const headers = { accept: accepted, 'accept-encoding': isType ? undefined : 'identity' };
      const details = await bothRefuse(415, requests, { detail: 'any', headers });
      assert.equal(new Set(details).size, 1, details.join('\n'));
      said.add(details[0] ?? '');
    }
    assert.equal(said.size, causes.length);
  });

  it('bytes that are not UTF-8 are a 400 [B3]', async () => {
    const [before, after] = [Buffer.from('{"title":"a'), Buffer.from('","categoryId":1}')];
    const sequences = ['ff', 'c328', 'c0af', 'eda080', 'f4908080', 'e282'];
    const wrong = sequences.map((hex) => Buffer.concat([before, Buffer.from(hex, 'hex'), after]));
    await bothRefuse(400, wrong.map(withBody), { detail: 'any' });
  });

  it('a byte order mark before the body is skipped [B3]', async () => {
    await bothTake([{ body: `\u{feff}${good}` }]);
    await bothRefuse(400, [{ body: `\u{feff}\u{feff}${good}` }], { detail: 'any' });
  });

  it('what is not JSON is a 400 that says where, and never quotes the body [B4]', async () => {
    const wrong: readonly (readonly [body: string, line: number, column: number])[] = [
      ['{"title":"secret",}', 1, 19],
      ['{"title":"secret"\n  "categoryId":1}', 2, 3],
      ["{'secret':1}", 1, 2],
      ['{"title":secret}', 1, 10],
      ['{"title":"secret"} secret', 1, 20],
      ['\n\n// secret\n{}', 3, 1],
      ['{"é😀":"secret",]', 1, 16],
      ['{"title":"secret\n"}', 1, 17],
      ['{\n"title":"é😀secret\u0001"}', 2, 18],
      ['{"title":"C:\\Users\\secret"}', 1, 13],
      ['{"title":"secret\\u00g0"}', 1, 17],
      ['{"title":"secret', 1, 17],
      ['{"title":"secret\\u00', 1, 21],
      ['{"title":"secret","categoryId":01}', 1, 32],
    ];
    for (const [body, line, column] of wrong) {
      const expected = { title: 'Bad Request', detail: 'any' } as const;
      for (const detail of await bothRefuse(400, [{ body }], expected)) {
        assert.match(detail, new RegExp(`line ${line}\\b.*column ${column}\\b`, 'i'), body);
        assert.doesNotMatch(detail, /secret/);
      }
    }
  });

  it('an escape outside of strings is not JSON, and neither is JSON that ends too early [B4]', async () => {
    const escapes = [
      '\\u007b"title":"a","categoryId":1}',
      '{"title"\\u003a"a"\\u002c"categoryId"\\u003a\\u0031\\u007d',
      '{"title":"a",\\u0020"categoryId":1}',
      '{"title":"a","categoryId":1,"done":\\u0074rue}',
      '\\u005b'.repeat(5000),
    ];
    const cutOff = ['', ' \n', '{', '{"title":"a', '{"title":"\\u00', '{"title":"a","categoryId":1'];
    const expected = { title: 'Bad Request', detail: 'any' } as const;
    await bothRefuse(400, [...escapes, ...cutOff].map(withBody), expected);
  });

  it('JSON that is not an object is a 400 [B4]', async () => {
    const wrong = ['null', 'true', '1', '"secret"', '[]', `[${good}]`].map(withBody);
    const details = await bothRefuse(400, wrong, { detail: /object/ });
    assert.doesNotMatch(details.join(), /secret/);
  });

  it('a body of 64 KiB is read, one byte more is a 413, in chunks too [B5]', async () => {
    const headers = { 'Transfer-Encoding': 'chunked', 'Content-Type': 'application/json' };
    const inside = `1000\r\n${full.slice(0, 0x1000)}\r\nf000\r\n${full.slice(0x1000)}\r\n0\r\n\r\n`;
    const beyond = `10000\r\n${full}\r\n1\r\n \r\n0\r\n\r\n`;
    await bothTake([{ body: full }, { headers, framed: inside }]);
    await bothRefuse(413, [{ body: `${full} ` }, { headers, framed: beyond }], tooLarge);
  });

  it('a 413 closes the connection [B5]', async () => {
    const request = { body: `${full} `, headers: { Connection: 'keep-alive' } };
    await bothRefuse(413, [request], { ...tooLarge, headers: { connection: 'close' } });
  });

  it('the 413 arrives although the client is still sending [B5]', async () => {
    await bothRefuse(413, [{ body: ' '.repeat(900_000) }], tooLarge);
  });

  it('64 levels of nesting are read, one more is a 400; brackets within a string are none [B5]', async () => {
    const withX = (x: string) => withBody(`{"title":"Buy milk","categoryId":1,"x":${x}}`);
    await bothTake([withX(`"\\"${'['.repeat(200)}"`)]);
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      // The object itself is the first level.
      const nested = (levels: number) => withX(`${open.repeat(levels - 1)}1${close.repeat(levels - 1)}`);
      await bothTake([nested(64)]);
      await bothRefuse(400, [nested(65), nested(5_000)], { detail: 'any' });
    }
  });

  it('unknown members are ignored and never stored [B6]', async () => {
    const unknown = '"id":77,"role":"editor","ID":3,"":0,"constructor":1,"prototype":{},"toString":null';
    const body = `{"__proto__":{"title":"no"},"title":"Buy milk","done":true,"categoryId":1,${unknown}}`;
    const made = await succeeds(201, 'POST /todos', { token, body });
    const { id } = json(made) as Todo;
    assert.notEqual(id, 77);
    assert.equal(made.body.toString(), JSON.stringify(milk(id)));
    await succeeds(204, `PUT /todos/${id}`, { token, body });
    assert.deepEqual(await readTodo(target, id), milk(id, { done: true }));
  });

  it('members are never taken from __proto__ or constructor [B6]', async () => {
    const body = '{"__proto__":{"title":"no","categoryId":1},"constructor":{"prototype":{"title":"no"}}}';
    await bothRefuse(400, [{ body }], { errors: ['title', 'categoryId'] });
  });

  test('a role in the body or in a header is never trusted [B6; Authentication 4]', async () => {
    const todo = await makeTodo(target);
    const body = '{"title":"no","categoryId":1,"role":"editor","roles":["editor"]}';
    const headers = { Role: 'editor', 'X-Role': 'editor', 'X-Roles': 'editor', 'X-User-Role': 'editor' };
    for (const line of ['POST /todos', `PUT /todos/${todo.id}`, `DELETE /todos/${todo.id}`]) {
      await fails(403, line, { token: reader, body, headers });
      await fails(401, line, { body, headers });
    }
    assert.deepEqual(await readTodo(target, todo.id), todo);
  });

  it('of a member that is there twice the last one counts [B7]', async () => {
    const body = '{"title":"","title":"Second","categoryId":"no","categoryId":2}';
    const made = json(await succeeds(201, 'POST /todos', { token, body })) as Todo;
    assert.deepEqual(made, { id: made.id, title: 'Second', done: false, categoryId: 2 });
    const worse = '{"title":"Second","title":"","categoryId":2}';
    await fails(400, `PUT /todos/${made.id}`, { token, body: worse }, { errors: ['title'] });
  });

  it('a 204 has neither body nor content type [D4]', async () => {
    const { id } = await makeTodo(target);
    const replies = [
      await succeeds(204, `PUT /todos/${id}`, { token, body: good }),
      await succeeds(204, `DELETE /todos/${id}`, { token }),
    ];
    for (const reply of replies) {
      for (const name of ['content-type', 'content-length', 'transfer-encoding']) {
        assert.equal(header(reply, name), undefined, name);
      }
    }
  });
}
