import fc from 'fast-check';
import { bodies } from '../../test/operations/fuzz-requests.ts';

/** What is written to one connection, latin1. */
export interface Conversation {
  /** Written one after the other, with a pause between two so that each comes in a packet of its own. */
  readonly pieces: readonly string[];
  /**
   * Whether the client ends its side in the middle of a head; else it asks for a path that is none, with
   * `Connection: close`. (Node.js drops the answer to a complete request whose client ends at once, now and then.)
   */
  readonly ends: boolean;
}

/** What the services of both sides know. */
export interface Known {
  readonly editor: string;
  /** The editor's among them, and those that are refused. */
  readonly tokens: readonly string[];
  /** Entity tags of the list and of todos as they were at first. */
  readonly tags: readonly string[];
}

/** The last request of a conversation that nobody ends: whether it is answered shows that the connection was kept. */
export const LAST = 'GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PATCH',
  'TRACE',
  'PROPFIND',
  'get',
  'BREW',
];

const SEGMENTS = [
  ...[
    '+1',
    '-1',
    '0',
    '001',
    '0000000000000000000001',
    '+',
    '-',
    '',
    '1/',
    '1//',
    '1/x',
    '1%20',
    '1.0',
    '1e0',
  ],
  ...[
    '0x1',
    'abc',
    '1;a',
    '1,2',
    '%31',
    '%2B1',
    '%2b1',
    '%2F1',
    '%001',
    '%FF',
    '%C3%A9',
    '%',
    '%3',
    '%zz',
    '1?',
  ],
  ...['1?id=2', '?id=1', '1#a', '1?%FF', '1?%00', '\u00e9', '999999999', '2147483647', '2147483648'],
  ...[
    '-2147483648',
    '-2147483649',
    '%2D1',
    '-0',
    '9'.repeat(30),
    'x'.repeat(200),
    '__proto__',
    'constructor',
  ],
];

const PATHS = [
  ...[
    '/',
    '/me',
    '/ME',
    '/me/',
    '/me?x=1',
    '/m%65',
    '/todos',
    '/todos/',
    '/TODOS',
    '/Todos/1',
    '//todos',
    '/todos//1',
  ],
  ...[
    '/todos?x',
    '/%74odos/1',
    '/todos/1/complete',
    '/todos/1/complete/',
    '/todos/1/COMPLETE',
    '/todos/99/complete',
  ],
  ...[
    '/todos/abc/complete',
    '/crash',
    '/crash/',
    '/CRASH?x',
    '/openapi/v1.json',
    '/openapi/v1.json/',
    '/OPENAPI/V1.JSON',
  ],
  ...[
    '/openapi',
    '/scalar',
    '/scalar/',
    '/Scalar',
    '/scalar/nope',
    '/scalar?x',
    '/health',
    '/metrics',
    '/live',
    '/ready',
  ],
  ...[
    '/version',
    '/__proto__',
    '/todos/../me',
    '/./me',
    '/%2e/me',
    '/todos%2F1',
    '/todos/1%2Fcomplete',
    '/\u00e4',
  ],
  ...[
    '*',
    'todos/1',
    'http://a/todos/1',
    'http://a/todos',
    'HTTPS://a:1/todos/1',
    'http://a',
    'http://a?x',
    'http://',
  ],
  ...[
    'http://a b/todos/1',
    'ftp://a/todos/1',
    'http://user@a/todos/1',
    'http://[::1]:80/me',
    'a:80',
    '?x',
    '#',
    '/\\',
  ],
];

const HOSTS = [
  ...[
    [],
    ['Host: a', 'Host: a'],
    ['Host: a', 'Host: b'],
    ['Host:'],
    ['host: [::1]:80'],
    ['Host: a b'],
    ['Host: a/b'],
  ],
  ...[
    ['HOST: example.org:8080'],
    ['Host: a:'],
    ['Host: a:x'],
    ['Host: %41'],
    ['Host: a,b'],
    ['Host: user@a'],
  ],
];

/** By name, so that two of one name are rare but happen. */
const LINES: readonly (readonly string[])[] = [
  [
    'Connection: close',
    'Connection: keep-alive',
    'Connection: Upgrade\r\nUpgrade: h2c',
    'Connection: x, close',
    'Upgrade: h2c',
  ],
  [
    ...[
      '*/*',
      '',
      'application/json',
      'application/problem+json',
      'text/html',
      'text/plain',
      'image/png, text/*',
      ';;;',
    ],
    ...[
      'application/json;q=0, */*;q=0.1',
      'application/*',
      'application/problem+json;q=0',
      'application/ld+json',
    ],
    ...[
      'text/html,application/xhtml+xml,*/*;q=0.8',
      '*/*;q=0',
      'application/json;q=0.0',
      'APPLICATION/JSON',
      'text/html;level="1,2"',
    ],
  ].map((value) => `Accept: ${value}`),
  ['Accept: text/html\r\nAccept: */*', 'accept: text/html'],
  ['gzip', 'gzip;q=0', '*', 'identity', 'br, gzip;q=0.5', 'x-gzip', '*;q=0', ';', ''].map(
    (value) => `Accept-Encoding: ${value}`,
  ),
  ['*', '"x"', 'W/"x"', 'x', '"a", "b"', ',', '', '"a" "b"', '"2a99cb9b620747772c8f1d5c101da0cf"', '"x'].map(
    (value) => `If-Match: ${value}`,
  ),
  ['*', '"x"', 'W/"x"', 'x', '"a",, "b"', ',', '', '*, "x"', '\t"x"'].map(
    (value) => `If-None-Match: ${value}`,
  ),
  ['If-None-Match: "a"\r\nIf-None-Match: "b"', 'If-Match: "a"\r\nIf-Match: *'],
  [
    'If-Modified-Since: Sat, 21 Nov 2026 00:00:00 GMT',
    'If-Unmodified-Since: x',
    'If-Range: "x"',
    'Range: bytes=0-1',
  ],
  ['Expect: 100-continue', 'Expect: 100-CONTINUE', 'Expect: wonders', 'Expect:', 'Expect: 100-continue, x'],
  ['gzip', 'identity', '', 'GZIP', 'br, gzip', 'x'].map((value) => `Content-Encoding: ${value}`),
  [
    'https://app.example',
    'https://APP.example',
    'https://evil.example',
    'null',
    '',
    'http://localhost:3000',
  ].map((value) => `Origin: ${value}`),
  [
    'Origin: https://app.example\r\nAccess-Control-Request-Method: PUT',
    'Origin: https://app.example\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization',
    'Origin: https://evil.example\r\nAccess-Control-Request-Method: PUT',
    'Access-Control-Request-Method: PUT',
  ],
  [
    `00-${TRACE_ID}-00f067aa0ba902b7-01`,
    `00-${TRACE_ID}-00f067aa0ba902b7-00`,
    `00-${TRACE_ID}-00f067aa0ba902b7-ff`,
    `01-${TRACE_ID}-00f067aa0ba902b7-01-x`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${TRACE_ID.toUpperCase()}-00f067aa0ba902b7-01`,
    'x',
    '',
  ].map((value) => `traceparent: ${value}`),
  [`traceparent: 00-${TRACE_ID}-00f067aa0ba902b7-01\r\ntraceparent: 00-${TRACE_ID}-00f067aa0ba902b7-00`],
  [
    'Cookie: a=b',
    'X-HTTP-Method-Override: DELETE',
    'X-Role: editor',
    '__proto__: x',
    'X-Empty:',
    'X-Latin: \u00e4',
    'TE: trailers',
  ],
  [
    'Content-Length: 0\r\nContent-Length: 0',
    'Content-Type: application/json\r\nContent-Type: text/plain',
    'Trailer: X-T',
  ],
];

const TYPES = [
  ...[
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/json; charset="UTF-8"',
  ],
  ...[
    'application/merge-patch+json',
    'application/json;charset=utf-16',
    'application/json; charset=latin1',
    'text/plain',
  ],
  ...[
    'application/json;',
    'application/json; x',
    'application/json; x="a;b"',
    'application/x+json',
    'json',
    '',
    ' ',
    ';',
  ],
  ...[
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'application/json, text/plain',
    'text/json',
  ],
];

/** Whole heads, or what passes for one, as no generator of headers makes them. */
const MALFORMED = [
  'GET /todos\r\n\r\n',
  'GET  /todos HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /to dos HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /todos HTTP/1.1 \r\nHost: a\r\n\r\n',
  'GET /todos HTTP/1.2\r\nHost: a\r\n\r\n',
  'GET /todos HTTP/2.0\r\nHost: a\r\n\r\n',
  'GET /todos HTTP/0.9\r\n\r\n',
  'GET /todos http/1.1\r\nHost: a\r\n\r\n',
  'GET /todos HTTP/1.1\nHost: a\n\n',
  '\r\nGET /me HTTP/1.1\r\nHost: a\r\n\r\n',
  ' GET /me HTTP/1.1\r\nHost: a\r\n\r\n',
  'G\u00c4T /me HTTP/1.1\r\nHost: a\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET * HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /me HTTP/1.1\r\nHost a\r\n\r\n',
  'GET /me HTTP/1.1\r\nHost : a\r\n\r\n',
  'GET /me HTTP/1.1\r\nHost: a\r\n folded: x\r\n\r\n',
  'GET /me HTTP/1.1\r\nHost: a\r\nX: a\u0000b\r\n\r\n',
  'GET /me HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n',
  'GET /me HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n',
  'GET /me HTTP/1.1\r\nHost: a\r\nX@Y: x\r\n\r\n',
  'GET /me\u0000 HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /me HTTP/1.1\r\nHost: a',
  'GET /me',
  '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
  `GET /${'a'.repeat(15_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  `GET /me HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`,
  ...[98, 99, 100, 101, 3_000].map(
    (count) => `GET /me HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(count)}\r\n`,
  ),
  'POST /todos HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n',
  'POST /todos HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n',
  'POST /todos HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'POST /todos HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST /todos HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n',
  'POST /todos HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
  'POST /todos HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ...['-1', '+2', '0x2', '2 2', '', '99999999999999999999'].map(
    (length) => `POST /todos HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n{}`,
  ),
];

const BODY_TEXTS = [
  ...[
    '{}',
    '[]',
    'null',
    '',
    ' ',
    '{',
    '{"title":"a","categoryId":1',
    '{"title":"a","categoryId":1}x',
    '"x"',
    '1',
    'tru',
  ],
  ...[
    '{"Title":"a","CategoryId":1}',
    '{"title":"a","title":"b","categoryId":1}',
    '{"title":"a","categoryId":99}',
  ],
  ...['{"title":"a","categoryId":1.0}', '{"title":"a","categoryId":1e0}', '{"title":"a","categoryId":1.5}'],
  ...[
    '{"title":"a","categoryId":"1"}',
    '{"title":null,"categoryId":null}',
    '{"title":"a","categoryId":1,"done":"x"}',
  ],
  ...[
    '{"title":"a","categoryId":1,"done":null}',
    '{"title":"\\ud800","categoryId":1}',
    '{"title":"\\u0000","categoryId":1}',
  ],
  ...[
    '\u00ef\u00bb\u00bf{"title":"bom","categoryId":2}',
    '{"title":"\u00ff","categoryId":1}',
    '{"__proto__":{"x":1},"title":"p","categoryId":1}',
  ],
  ...[
    '{"title":" ","categoryId":1}',
    '{"title":"<&\\">\\u2028","categoryId":2}',
    '{\n  "title": x\n}',
    '{"title":"a",}',
  ],
  ...[
    '['.repeat(200),
    `{"title":${'['.repeat(70)}${']'.repeat(70)}}`,
    `{"title":"${'x'.repeat(65_000)}","categoryId":1}`,
  ],
  `{"title":"a","categoryId":1}${' '.repeat(70_000)}`,
];

/** Seldom, so that most requests come further than to a refusal of this kind. */
function seldom<T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>, usually = 9): fc.Arbitrary<T> {
  return fc.oneof({ weight: usually, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

const ids = fc.integer({ min: 1, max: 30 });

/** A method and a target that belong together. */
const operations = fc.oneof(
  { weight: 3, arbitrary: fc.constant('GET /todos') },
  { weight: 5, arbitrary: ids.map((id) => `GET /todos/${id}`) },
  { weight: 1, arbitrary: ids.map((id) => `HEAD /todos/${id}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('HEAD /todos', 'GET /me', 'HEAD /me', 'GET /crash', 'HEAD /crash'),
  },
  { weight: 3, arbitrary: fc.constant('POST /todos') },
  { weight: 4, arbitrary: ids.map((id) => `PUT /todos/${id}`) },
  { weight: 2, arbitrary: ids.map((id) => `DELETE /todos/${id}`) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 }).map((id) => `POST /todos/${id}/complete`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('GET /openapi/v1.json', 'GET /scalar', 'GET /scalar/', 'HEAD /scalar'),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(...METHODS), fc.constantFrom(...PATHS))
      .map(([method, path]) => `${method} ${path}`),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(...METHODS), fc.constantFrom(...SEGMENTS))
      .map(([method, segment]) => `${method} /todos/${segment}`),
  },
);

const versions = seldom(
  fc.constant('HTTP/1.1'),
  fc.constantFrom('HTTP/1.0', 'HTTP/1.0', 'HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0'),
  14,
);

const hosts = seldom<readonly string[]>(fc.constant(['Host: a']), fc.constantFrom(...HOSTS), 14);

/** Up to three more lines. */
function linesFor({ tags }: Known): fc.Arbitrary<readonly string[]> {
  const matching = ['If-Match', 'If-None-Match', 'If-None-Match'].map((name) =>
    tags.map((tag) => `${name}: ${tag}`),
  );
  return fc
    .subarray([...LINES, ...matching], { maxLength: 3 })
    .chain((names) => fc.tuple(...names.map((values) => fc.constantFrom(...values))));
}

function credentials({ editor: token, tokens }: Known): fc.Arbitrary<readonly string[]> {
  const editor = `Authorization: Bearer ${token}`;
  return fc.oneof(
    { weight: 16, arbitrary: fc.constant([editor]) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(...tokens).map((other) => [`Authorization: Bearer ${other}`]),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        [],
        [`authorization: bearer ${token}`],
        [`AUTHORIZATION: BEARER  ${token} `],
        [`Authorization: ${token}`],
        [`Authorization: Bearer ${token}x`],
        [`Authorization: Bearer ${token}, Bearer x`],
        [`Authorization: Bearer ${'a'.repeat(13_000)}`],
        ['Authorization: Basic YTpi'],
        ['Authorization: Bearer'],
        ['Authorization: Bearer '],
        ['Authorization: Bearer a.b.c'],
        ['Authorization:'],
        [editor, editor],
      ),
    },
  );
}

const valid = fc
  .record({
    title: fc.constantFrom('Buy milk', 'K\u00e4se \ud83e\uddc0', 'a'.repeat(100), '"\\/\b\u2028', 'x'),
    categoryId: fc.constantFrom(1, 2),
    done: fc.boolean(),
  })
  .map((value) => Buffer.from(JSON.stringify(value)).toString('latin1'));

const bodyTexts = fc.oneof(
  { weight: 16, arbitrary: valid },
  { weight: 3, arbitrary: fc.constantFrom(...BODY_TEXTS) },
  { weight: 3, arbitrary: bodies('Wash the car').map((bytes) => bytes.toString('latin1')) },
);

/** A body with the headers that frame it: latin1, so that its length is its bytes. */
const framed = fc
  .tuple(
    bodyTexts,
    seldom(fc.constant('application/json'), fc.constantFrom(...TYPES), 7),
    seldom(fc.boolean(), fc.constant(undefined), 12),
    fc.constantFrom(
      'right',
      'right',
      'right',
      'right',
      'extended',
      'trailers',
      'short',
      'broken',
      'leading zero',
    ),
  )
  .map(([text, type, chunked, how]) => {
    const typed = type === '' && how === 'short' ? '' : `Content-Type: ${type}\r\n`;
    if (chunked === undefined) return `${typed}\r\n`;
    if (chunked && text !== '') return `${typed}Transfer-Encoding: chunked\r\n\r\n${inChunks(text, how)}`;
    if (how === 'short') return `${typed}Content-Length: ${Math.max(0, text.length - 1)}\r\n\r\n${text}`;
    if (how === 'leading zero') return `${typed}Content-Length: 0${text.length}\r\n\r\n${text}`;
    return `${typed}Content-Length: ${text.length}\r\n\r\n${text}`;
  });

function inChunks(text: string, how: string): string {
  const half = Math.ceil(text.length / 2);
  const extension = how === 'extended' ? ';a=b;c="d"' : '';
  const chunks = [text.slice(0, half), text.slice(half)]
    .filter((chunk) => chunk !== '')
    .map((chunk) => `${chunk.length.toString(16)}${extension}\r\n${chunk}\r\n`);
  if (how === 'broken') return `${chunks.join('')}zz\r\n`;
  return `${chunks.join('')}0\r\n${how === 'trailers' ? 'X-T: y\r\n' : ''}\r\n`;
}

const none = fc.constant('\r\n');

function request(known: Known): fc.Arbitrary<string> {
  return operations.chain((operation) => {
    const writes = /^(?:POST|PUT|PATCH) /.test(operation);
    const body = writes ? seldom(framed, none) : seldom(none, framed);
    return fc
      .tuple(versions, hosts, credentials(known), linesFor(known), body)
      .map(([version, ...fields]) => {
        const rest = fields.pop() ?? '';
        const head = fields.flat().map((line) => `${line}\r\n`);
        return `${operation} ${version}\r\n${head.join('')}${rest}`;
      });
  });
}

/** Conversations of one to four requests. Their state depends on those before them. */
export function conversations(known: Known): fc.Arbitrary<Conversation> {
  const requests = seldom(request(known), fc.constantFrom(...MALFORMED), 24);
  const sent = fc.oneof(
    { weight: 6, arbitrary: requests },
    {
      weight: 2,
      arbitrary: fc
        .array(requests, { minLength: 2, maxLength: 4 })
        .filter(isOrdered)
        .map((all) => all.join('')),
    },
  );
  const kept = fc.tuple(sent, seldom(fc.constant(0), fc.nat(400), 19)).map(([text, at]) => {
    const pieces = at === 0 ? [text] : [text.slice(0, at), text.slice(at)];
    return { pieces: pieces.filter((piece) => piece !== ''), ends: false };
  });
  const ended = fc.tuple(requests, fc.nat(400)).map(([text, at]) => {
    return { pieces: [text.slice(0, Math.min(at, text.indexOf('\r\n\r\n') + 3))], ends: true };
  });
  return seldom<Conversation>(kept, ended, 24);
}

/**
 * Whether the answers depend on no order: what is pipelined is done at the same time, so that a read may see a write
 * or not. And not too long: a service that refuses the first may reset the connection while the rest still comes.
 */
function isOrdered(requests: readonly string[]): boolean {
  if (requests.join('').length > 12_000) return false;
  const writes = requests.filter(isWrite).length;
  return writes === 0 || (writes === 1 && !requests.some((text) => /^(?:GET|HEAD) .*todos/i.test(text)));
}

/** Whether this may change a todo, and get another answer the second time. */
export function isWrite(text: string): boolean {
  return /^(?:POST|PUT|DELETE) /m.test(text);
}
