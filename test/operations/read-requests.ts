import fc from 'fast-check';

export const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

/** Targets that name a todo, nearly name one, or name something else. */
const targets = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 5 }).map((id) => `/todos/${id}`) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(
        ...['+1', '-1', '0', '001', '+', '', '1/', '1/x', '1 ', '1.0', '1e0', '0x1', 'abc', '1;a', '1,2'],
        ...['%31', '%2B1', '%2F1', '%001', '%FF', '1%20', '1?', '1?id=2', '?id=1', '1#a', '\u00e9'],
        ...['999999999', '2147483647', '2147483648', '-2147483648', '-2147483649', '9'.repeat(30)],
      )
      .map((segment) => `/todos/${segment}`),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...[
        '/TODOS/1',
        '/Todos/1',
        '//todos/1',
        '/todos//1',
        '/todos',
        '/todos/',
        '/me',
        '/',
        '*',
        '/%74odos/1',
      ],
      ...['http://a/todos/1', 'HTTPS://a:1/todos/1', 'http://a b/todos/1', 'ftp://a/todos/1', 'todos/1'],
    ),
  },
);

const methods = fc.oneof(
  { weight: 12, arbitrary: fc.constant('GET') },
  {
    weight: 3,
    arbitrary: fc.constantFrom('HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'get', 'BREW'),
  },
);

const versions = fc.oneof(
  { weight: 9, arbitrary: fc.constant('HTTP/1.1') },
  { weight: 1, arbitrary: fc.constantFrom('HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0') },
);

const hosts = fc.oneof(
  { weight: 9, arbitrary: fc.constant(['Host: a']) },
  {
    weight: 1,
    arbitrary: fc.constantFrom([], ['Host: a', 'Host: a'], ['Host:'], ['host: [::1]:80'], ['Host: a b']),
  },
);

const accepts = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ['Accept: */*'],
      ['Accept:'],
      ['Accept: application/json'],
      ['Accept: text/html'],
      ['accept: text/html', 'Accept: */*'],
      ['Accept: application/problem+json;q=0'],
    ),
  },
);

/** Of these up to two. */
const LINES = [
  'Connection: close',
  'Connection: keep-alive',
  'Connection: Upgrade',
  'Upgrade: h2c',
  'If-Match: *',
  'If-Match: "x"',
  'If-None-Match: *',
  'if-none-match: "x"',
  'If-None-Match: x',
  'If-Modified-Since: Sat, 21 Nov 2026 00:00:00 GMT',
  'If-Range: "x"',
  'Range: bytes=0-1',
  'Expect: 100-continue',
  'Expect: wonders',
  'Accept-Encoding: gzip',
  'Content-Type: text/plain',
  'Content-Encoding: gzip',
  'Origin: https://app.example',
  'Cookie: a=b',
  `traceparent: 00-${TRACE_ID}-00f067aa0ba902b7-01`,
  `traceparent: 00-${TRACE_ID}-00f067aa0ba902b7-00`,
  `traceparent: 00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  'X-HTTP-Method-Override: DELETE',
];

const bodies = fc.oneof(
  { weight: 9, arbitrary: fc.constant('\r\n') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'Content-Length: 0\r\n\r\n',
      'Content-Length: 2\r\n\r\n{}',
      'Content-Length: 02\r\n\r\n{}',
      'Content-Length: -1\r\n\r\n',
      'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    ),
  },
);

/** One request as it goes over the wire, most of them for a todo; latin1. None changes anything for a reader. */
export function readRequests(tokens: Readonly<Record<'reader' | 'expired', string>>): fc.Arbitrary<string> {
  const credentials = fc.oneof(
    { weight: 9, arbitrary: fc.constant([`Authorization: Bearer ${tokens.reader}`]) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        [],
        [`authorization: bearer ${tokens.reader}`],
        [`AUTHORIZATION: Bearer  ${tokens.reader} `],
        [`Authorization: Bearer ${tokens.expired}`],
        [`Authorization: Bearer ${tokens.reader}x`],
        [`Authorization: ${tokens.reader}`],
        ['Authorization: Basic YTpi'],
        ['Authorization:'],
        [`Authorization: Bearer ${tokens.reader}`, `Authorization: Bearer ${tokens.reader}`],
      ),
    },
  );
  return fc
    .record({
      method: methods,
      target: targets,
      version: versions,
      fields: fc.tuple(hosts, credentials, accepts, fc.subarray(LINES, { maxLength: 2 })),
      body: bodies,
    })
    .map(({ method, target, version, fields, body }) => {
      const lines = fields.flat().map((line) => `${line}\r\n`);
      return `${method} ${target} ${version}\r\n${lines.join('')}${body}`;
    });
}
