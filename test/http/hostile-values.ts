/** What may stand in each part of a request and is wrong, nearly wrong or odd: the words of all who generate requests. */

/** Values without a blank. */
const words = (text: string): readonly string[] => text.split(' ');

/** The trace id of every `traceparent` below. */
export const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

/** Beginnings of what passes the limits of a head and of a body. */
const TODO = '{"title":"a","categoryId":';

export const METHODS = words('GET HEAD POST PUT DELETE OPTIONS PATCH TRACE PROPFIND PURGE get BREW');

/** What stands behind `/todos/`. */
export const SEGMENTS = [
  ...words('5 005 +5 -5 +1 -1 0 001 0000000000000000000001 + - 1/ 1// 1/x 1%20 1.0 1e0 1e2 0x1 abc 1;a 1,2'),
  ...words('%31 %35 %2B1 %2b1 %2F1 %20 %00 %001 %FF %C3%A9 % %3 %zz 1? 1?id=2 ?id=1 1#a 1?%FF 1?%00 \u00e9'),
  ...words('999999999 2147483647 2147483648 -2147483648 -2147483649 %2D1 -0 __proto__ constructor'),
  ...['', '9'.repeat(30), 'x'.repeat(200)],
];

/** Whole targets. */
export const PATHS = [
  ...words(
    '/ /me /ME /me/ /me?x=1 /m%65 /todos /todos/ /TODOS /Todos/1 //todos /todos//1 /todos?x /%74odos/1',
  ),
  ...words('/todos/1/complete /todos/1/complete/ /todos/1/COMPLETE /todos/99/complete /todos/abc/complete'),
  ...words('/crash /crash/ /CRASH?x /openapi/v1.json /openapi/v1.json/ /OPENAPI/V1.JSON /openapi'),
  ...words(
    '/scalar /scalar/ /Scalar /scalar/nope /scalar?x /health /metrics /live /ready /version /__proto__',
  ),
  ...words('/todos/../me /./me /%2e/me /todos%2F1 /todos/1%2Fcomplete /\u00e4 * todos/1 ? # /\\ a:80 ?x'),
  ...words('http://a/todos/1 http://a/todos HTTPS://a:1/todos/1 http://a http://a?x http:// ftp://a/todos/1'),
  ...words('http://user@a/todos/1 http://[::1]:80/me'),
  'http://a b/todos/1',
];

export const ACCEPTS = [
  ...words(
    '*/* application/json application/problem+json text/html text/plain application/* ;;; APPLICATION/JSON',
  ),
  ...words(
    'application/problem+json;q=0 application/ld+json */*;q=0 application/json;q=0.0 text/html;level="1,2"',
  ),
  ...words('text/html,application/xhtml+xml,*/*;q=0.8'),
  ...['', 'image/png, text/*', 'application/json;q=0, */*;q=0.1'],
  ...['text/html, *; q=.2, */*; q=.2', '*/*;q', 'text/html;q=high', '*/*;q=0.0000', 'text/html, */*;q="0'],
];

/** Values of `Content-Type`. */
export const TYPES = [
  ...words(
    'application/json APPLICATION/JSON application/merge-patch+json application/json;charset=utf-16 text/plain',
  ),
  ...words(
    'application/json; application/x+json json ; application/x-www-form-urlencoded text/json multipart/form-data',
  ),
  ...['', ' ', 'application/json; charset=utf-8', 'application/json; charset="UTF-8"', 'application/json; x'],
  ...['application/json; charset=utf8', 'application/json; charset=', ';charset=utf-8'],
  ...['application/json; charset=latin1', 'application/json; x="a;b"', 'application/json, text/plain'],
];

/** Values of `If-Match` and `If-None-Match`. */
export const TAGS = [
  ...words('* "x" W/"x" x , "2a99cb9b620747772c8f1d5c101da0cf" "x'),
  ...words('"2a99cb9b620747772c8f1d5c101da0cf-br" W/"2a99cb9b620747772c8f1d5c101da0cf;gzip"'),
  ...['', '"a", "b"', '"a" "b"', '"a",, "b"', '*, "x"', '\t"x"'],
];

/** Values of `Idempotency-Key` that are none. */
export const NO_KEYS = ['"', '""', 'a b', 'a, b', '"a";b=1', 'a'.repeat(129)];

/** Values of `Authorization` that nobody is let in with, made of a good token. */
export const refusedCredentials = (token: string): readonly string[] => [
  ...[token, `Bearer ${token}x`, `Bearer ${token}, Bearer x`, `Bearer ${'a'.repeat(13_000)}`],
  ...['Basic YTpi', 'Bearer', 'Bearer ', 'Bearer a.b.c', ''],
];

/** Other lines of a head, by name, so that two of one name are rare but happen. */
export const LINES: readonly (readonly string[])[] = [
  lines('Connection', 'close', 'keep-alive', 'Upgrade\r\nUpgrade: h2c', 'x, close'),
  lines('Accept', ...ACCEPTS, 'text/html\r\nAccept: */*'),
  lines('Accept-Encoding', ...words('gzip gzip;q=0 * identity x-gzip *;q=0 ;'), '', 'br, gzip;q=0.5'),
  lines('If-Match', ...TAGS, '"a"\r\nIf-Match: *'),
  lines('If-None-Match', ...TAGS, '"a"\r\nIf-None-Match: "b"'),
  [...lines('If-Modified-Since', 'Sat, 21 Nov 2026 00:00:00 GMT'), 'If-Unmodified-Since: x'],
  ['If-Range: "x"', 'Range: bytes=0-1'],
  lines('Expect', '100-continue', '100-CONTINUE', 'wonders', '', '100-continue, x'),
  lines('Content-Encoding', 'gzip', 'identity', '', 'GZIP', 'br, gzip', 'x'),
  lines(
    'Origin',
    ...words('https://app.example https://APP.example https://evil.example null http://localhost:3000'),
    '',
  ),
  [
    ...lines('Origin: https://app.example\r\nAccess-Control-Request-Method', 'PUT', 'POST'),
    'Origin: https://evil.example\r\nAccess-Control-Request-Method: PUT',
    'Origin: https://app.example\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization',
    'Access-Control-Request-Method: PUT',
  ],
  lines(
    'traceparent',
    ...['01', '00', 'ff', '01\r\ntraceparent: x'].map((flags) => `00-${TRACE_ID}-00f067aa0ba902b7-${flags}`),
    `01-${TRACE_ID}-00f067aa0ba902b7-01-x`,
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `00-${TRACE_ID.toUpperCase()}-00f067aa0ba902b7-01`,
    ...['x', ''],
  ),
  ['Cookie: a=b', 'X-HTTP-Method-Override: DELETE', 'X-Role: editor', '__proto__: x', 'X-Latin: \u00e4'],
  ['X-Empty:', 'TE: trailers', 'Trailer: X-T', 'Upgrade: h2c', 'Content-Length: 0\r\nContent-Length: 0'],
  ['Content-Type: application/json\r\nContent-Type: text/plain'],
];

function lines(name: string, ...values: readonly string[]): readonly string[] {
  return values.map((value) => `${name}: ${value}`);
}

/** Whole heads, or what passes for one, as no generator of headers makes them. */
export const MALFORMED = [
  'GET /todos\r\n\r\n',
  'GET  /todos HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /to dos HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /todos HTTP/1.1 \r\nHost: a\r\n\r\n',
  ...words('HTTP/1.2 HTTP/2.0 http/1.1').map((version) => `GET /todos ${version}\r\nHost: a\r\n\r\n`),
  'GET /todos HTTP/0.9\r\n\r\n',
  'GET /todos HTTP/1.1\nHost: a\n\n',
  '\r\nGET /me HTTP/1.1\r\nHost: a\r\n\r\n',
  ' GET /me HTTP/1.1\r\nHost: a\r\n\r\n',
  'G\u00c4T /me HTTP/1.1\r\nHost: a\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET * HTTP/1.1\r\nHost: a\r\n\r\n',
  ...['Host a', 'Host : a', 'Host: a\r\n folded: x', 'Host: a\r\nX: a\u0000b', 'Host: a\r\nX: a\rb'].map(
    (head) => `GET /me HTTP/1.1\r\n${head}\r\n\r\n`,
  ),
  ...[': x', 'X@Y: x', `X: ${'a'.repeat(17_000)}`].map(
    (line) => `GET /me HTTP/1.1\r\nHost: a\r\n${line}\r\n\r\n`,
  ),
  'GET /me\u0000 HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /me HTTP/1.1\r\nHost: a',
  'GET /me',
  '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
  ...[15_000, 70_000].map((length) => `GET /${'a'.repeat(length)} HTTP/1.1\r\nHost: a\r\n\r\n`),
  ...[98, 99, 100, 101, 3_000].map(
    (count) => `GET /me HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(count)}\r\n`,
  ),
  'POST /todos HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ...[
    'Transfer-Encoding: chunked\r\n\r\nx\r\n',
    'Transfer-Encoding: gzip\r\n\r\n',
    'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n',
    'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    ...['-1', '+2', '0x2', '2 2', '', '99999999999999999999'].map(
      (length) => `Content-Length: ${length}\r\n\r\n{}`,
    ),
  ].map((rest) => `POST /todos HTTP/1.1\r\nHost: a\r\n${rest}`),
];

/** Bodies, latin1. */
export const BODIES = [
  ...words('{} [] null { 1 tru "x"'),
  ...['', ' ', '{"title":"a","categoryId":1', '{"title":"a",}', '{\n  "title": x\n}', `${TODO}1}x`],
  ...['1.0', '1e0', '1.5', '99', '"1"', '1,"done":"x"', '1,"done":null'].map((rest) => `${TODO}${rest}}`),
  ...[
    '{"Title":"a","CategoryId":1}',
    '{"title":"a","title":"b","categoryId":1}',
    '{"title":null,"categoryId":null}',
  ],
  ...[' ', '\\ud800', '\\u0000', '\u00ff', '<&\\">\\u2028', 'x'.repeat(65_000)].map(
    (title) => `{"title":"${title}","categoryId":1}`,
  ),
  ...['\u00ef\u00bb\u00bf{"title":"bom","categoryId":2}', '{"__proto__":{"x":1},"title":"p","categoryId":1}'],
  ...['['.repeat(200), `{"title":${'['.repeat(70)}${']'.repeat(70)}}`, `${TODO}1}${' '.repeat(70_000)}`],
];

/** What makes an expression or a parser slow when it stands there a thousand times. */
export const REPEATED = [
  ...words('\t , ; " \\ \\" = / . - : % %25 + * */*, a 0 a= a=" "; ;a ;a=a ;a="";'),
  ...words(';q= ;q=0 ;q=0.5, "a", W/"a", W/ a/b, {"a": [ \\u0000 1e \xff'),
  ...[' ', ', ', '; '],
];
