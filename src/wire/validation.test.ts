import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { faultOf, readTarget, WRONG_ESCAPES } from './validation.ts';

const read: readonly (readonly [string, string])[] = [
  ['/todos/%2B5', '/todos/+5'],
  ['/todos?x=%FF', '/todos'],
  ['/todos%2F5', '/todos%2F5'],
  ['/todos/%205', '/todos/%205'],
  ['/todos/%C3%A9', '/todos/%C3%A9'],
];

for (const [target, path] of read) {
  test(`${target} is the path ${path} [R1]`, () => {
    assert.deepEqual(readTarget(target, 'GET'), { path });
  });
}

for (const [target, path, authority] of [
  ['http://example.org/todos', '/todos', 'example.org'],
  ['HTTPS://example.org:8443/todos/%35?q', '/todos/5', 'example.org:8443'],
  ['http://example.org', '/', 'example.org'],
  ['http://example.org?q', '/', 'example.org'],
] as const) {
  test(`the absolute target ${target} is routed by its path [R1]`, () => {
    assert.deepEqual(readTarget(target, 'GET'), { path, authority });
  });
}

test('the asterisk is a target of OPTIONS alone', () => {
  assert.deepEqual(readTarget('*', 'OPTIONS'), { path: '*' });
  assert.ok('status' in readTarget('*', 'GET'));
});

const refused: readonly string[] = [
  '',
  'todos',
  '?x',
  'example.org:80',
  'ftp://example.org/todos',
  'http:///todos',
  '/todos#5',
  '/todos\\5',
  '/tod os',
  '/todös',
];

for (const target of refused) {
  test(`the target ${JSON.stringify(target)} is refused [Order 1]`, () => {
    const detail = 'The request target must be a path or an absolute http URI.';
    assert.deepEqual(readTarget(target, 'GET'), { status: 400, detail });
  });
}

for (const target of ['/todos/%FF', '/todos/%', '/%00', '/%0D', '/%0a']) {
  test(`the target ${target} is refused for its escapes [Order 1]`, () => {
    const detail = 'The escapes in the path must be UTF-8, without NUL, CR and LF.';
    assert.equal(readTarget(target, 'GET'), WRONG_ESCAPES);
    assert.deepEqual(WRONG_ESCAPES, { status: 400, detail });
  });
}

/** A request of HTTP/1.1 for `/` with one `Host`, as Node.js hands it over, but for these members. */
function requestWith(members: Partial<IncomingMessage>): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  const usual = { method: 'GET', url: '/', httpVersionMajor: 1, httpVersionMinor: 1, headers: { host: 'a' } };
  return Object.assign(request, usual, members);
}

/** The fault of a request with these values of `Host`. */
function faultWith(...hosts: readonly string[]) {
  const rawHeaders = hosts.flatMap((host) => ['Host', host]);
  return faultOf(requestWith({ rawHeaders, headers: { host: hosts[0] } }));
}

for (const [what, members, detail] of [
  ['HTTP/0.9', { httpVersionMajor: 0, httpVersionMinor: 9 }, 'The HTTP version must be 1.0 or 1.1.'],
  ['HTTP/2.0', { httpVersionMajor: 2, httpVersionMinor: 0 }, 'The HTTP version must be 1.0 or 1.1.'],
  ['the method SOURCE', { method: 'SOURCE' }, 'The method SOURCE is for ICE.'],
  [
    'two transfer codings',
    { headers: { host: 'a', 'transfer-encoding': 'gzip, chunked' } },
    'The only transfer coding is chunked, and HTTP/1.0 has none.',
  ],
] as const) {
  test(`a request with ${what} is refused for it [Order 1]`, () => {
    assert.deepEqual(faultOf(requestWith(members)), { status: 400, detail });
  });
}

test('an absolute target takes the place of its path, when its authority is valid [R1; Order 1]', () => {
  const request = requestWith({ url: 'http://example.org:80/todos/5?x' });
  assert.equal(faultOf(request), undefined);
  assert.equal(request.url, '/todos/5');
  const detail = 'The request must have exactly one valid Host header.';
  assert.deepEqual(faultOf(requestWith({ url: 'http://user@a/todos' })), { status: 400, detail });
});

for (const host of [
  'a',
  'EXAMPLE.org:8080',
  'a:',
  '127.0.0.1',
  '[::1]',
  '[fe80::a.b]:80',
  "[v1f.a:~!$&'()*+,;=-]",
  "a-b_c.~!$&'()*+,;=",
  '%41%c3',
]) {
  test(`${host} is a valid Host [Order 1]`, () => assert.equal(faultWith(host), undefined));
}

test('an empty Host is valid on a Unix socket alone, once, with an absolute target too [Order 1]', () => {
  const empty = { rawHeaders: ['Host', ''], headers: { host: '' } };
  assert.equal(faultOf(requestWith(empty), true), undefined);
  assert.equal(faultOf(requestWith({ ...empty, url: 'http://a/todos' }), true), undefined);
  const detail = 'The request must have exactly one valid Host header.';
  for (const rawHeaders of [
    ['Host', '', 'host', ''],
    ['Host', '', 'HOST', 'a'],
  ])
    assert.deepEqual(faultOf(requestWith({ ...empty, rawHeaders }), true), { status: 400, detail });
  assert.deepEqual(faultOf(requestWith({ headers: {} }), true), { status: 400, detail });
});

for (const hosts of [
  ['a', 'a'],
  [''],
  [':80'],
  ['a b'],
  ['a/b'],
  ['user@a'],
  ['a:80x'],
  ['a:b:1'],
  ['::1'],
  ['[]'],
  ['[::1'],
  ['[::g]'],
  ['x[::1]'],
  ['[::1]x'],
  ['[v.a]'],
  ['[v1.]'],
  ['[v1]'],
  ['[v1.a/b]'],
  ['%4'],
  ['%4g'],
  ['ä'],
]) {
  test(`${JSON.stringify(hosts)} is no valid Host [Order 1]`, () => {
    const detail = 'The request must have exactly one valid Host header.';
    assert.deepEqual(faultWith(...hosts), { status: 400, detail });
  });
}
