import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../packages/conformance/src/http.ts';
import { responseChecker } from './check-response.ts';

const todo = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer', format: 'int32' }, title: { type: 'string' } },
};
const ETag = { description: 'Tag.', required: true, schema: { type: 'string', pattern: '^"' } };
const answers = {
  200: {
    description: 'Here.',
    headers: { ETag: { $ref: '#/components/headers/ETag' } },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Todo' } } },
  },
  404: { $ref: '#/components/responses/Missing' },
  500: { description: 'Broken.', content: { 'application/json': { schema: {} } } },
};
const list = { type: 'array', items: { $ref: '#/components/schemas/Todo' } };
const check = responseChecker({
  paths: {
    '/todos/{id}': { get: { responses: answers } },
    '/todos': { get: { responses: { 200: { content: { 'application/json': { schema: list } } } } } },
  },
  components: {
    schemas: { Todo: todo },
    headers: { ETag },
    responses: { Missing: { content: { 'application/problem+json': { schema: {} } } } },
  },
});

const one = { 'content-type': 'application/json; charset=utf-8', etag: '"a"' };

const text = { 'content-type': 'text/plain' };

function reply(status: number, headers: Readonly<Record<string, string>>, body = ''): Reply {
  return { status, headers: Object.entries(headers), body: Buffer.from(body) };
}

test('a reply as the document describes it passes', () => {
  check('GET', '/todos/{id}', reply(200, one, '{"id":1,"title":"Milk"}'));
  check('HEAD', '/todos/{id}', reply(200, one));
  check('GET', '/todos/{id}', reply(404, text, 'Status Code: 404; Not Found'));
  check('GET', '/todos/{id}', reply(500, { 'content-length': '0' }));
  check('GET', '/todos', reply(200, { 'content-type': 'application/json' }, '[{"id":1},{"id":2}]'));
});

const TODO = '/todos/{id}';
const untagged = { 'content-type': 'application/json' };
const html = { 'content-type': 'text/html' };
const many = '[{"id":1},{"id":2,"owner":2}]';

for (const [what, path, deviating, complaint] of [
  ['a status that is not listed', TODO, reply(418, one), /does not list this response/],
  ['a path that is not listed', '/me', reply(200, one), /does not list this response/],
  ['a header that is not listed', TODO, reply(404, one, '{}'), /does not list the header etag/],
  ['a media type that is not listed', TODO, reply(404, html, 'Missing'), /does not list text\/html/],
  [
    'a line of text of another status',
    TODO,
    reply(404, text, 'Status Code: 400; Bad Request'),
    /404; Not Found/,
  ],
  ['a missing header', TODO, reply(200, untagged, '{"id":1}'), /ETag is missing/],
  ['a header of another form', TODO, reply(200, { ...one, etag: 'a' }, '{"id":1}'), /must match pattern/],
  ['a missing body', TODO, reply(200, { etag: '"a"' }), /the body is missing/],
  ['a body without a type', TODO, reply(500, {}, '{}'), /a body without a type/],
  ['a missing member', TODO, reply(200, one, '{}'), /required property 'id'/],
  ['a member of another type', TODO, reply(200, one, '{"id":"1"}'), /must be integer/],
  ['a member too many', TODO, reply(200, one, '{"id":1,"owner":2}'), /unevaluated properties/],
  ['a member too many in an array', '/todos', reply(200, untagged, many), /unevaluated properties/],
] as const) {
  test(`${what} is noticed`, () => {
    assert.throws(() => check('GET', path, deviating), complaint);
  });
}
