import fc from 'fast-check';
import { bodies, seldom } from '../../test/operations/fuzz.ts';
import {
  BODIES,
  HOSTS,
  LINES,
  MALFORMED,
  METHODS,
  PATHS,
  refusedCredentials,
  SEGMENTS,
  TYPES,
} from '../../test/operations/hostile-values.ts';

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

const hosts = seldom<readonly string[]>(
  fc.constant(['Host: a']),
  fc.constantFrom([], ...HOSTS.map((host) => [`Host: ${host}`])),
  14,
);

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
        ...refusedCredentials(token).map((value) => [`Authorization: ${value}`]),
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
  { weight: 3, arbitrary: fc.constantFrom(...BODIES) },
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
