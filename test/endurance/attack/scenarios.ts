import type { Orders } from './attacker.ts';

/** What a stranger sends, and what that may take of the service. */
export interface Scenario {
  /** As a flag names it. */
  readonly name: string;
  /** For people. */
  readonly what: string;
  readonly connections: number;
  /** Milliseconds between two that are opened; without it all are at once. */
  readonly opensEveryMs?: number;
  /** What each connection sends, once. @param index 0 for the first connection. */
  bytes(token: string, index: number): Buffer;
  /** Whether it takes its answers. */
  readonly reads: boolean;
  readonly goesOn?: Orders['goesOn'];
  /** In the list. */
  readonly todos: number;
  /** Megabytes of resident memory, above that before. */
  readonly megabytes: number;
  /** Seconds of all processors together. */
  readonly processorSeconds: number;
}

/** A body below its limit, in chunks of one byte, which does not end. */
function oneByteChunks(fields: string): Buffer {
  const head = `POST /todos HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${fields}Transfer-Encoding: chunked\r\n\r\n`;
  return Buffer.from(head + '1\r\n \r\n'.repeat(65_000));
}

const CHUNKS = { connections: 60, reads: true, todos: 1, megabytes: 60, processorSeconds: 8 };

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

const MANY_TODOS = 150_000;

/** Each connection changes a todo of another chunk, and asks twice for that version: what is asked for again is compressed. */
function changeAndAsk(token: string, index: number): Buffer {
  const body = JSON.stringify({ title: `Changed by ${index}`, categoryId: 1 });
  const fields = `Host: x\r\nAuthorization: Bearer ${token}\r\nAccept-Encoding: gzip\r\n`;
  const typed = `${fields}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const id = 1 + ((index * 257) % MANY_TODOS);
  return Buffer.from(
    `PUT /todos/${id} HTTP/1.1\r\n${typed}\r\n${body}` +
      `HEAD /todos HTTP/1.1\r\n${fields}\r\nGET /todos HTTP/1.1\r\n${fields}\r\n`,
  );
}

const VERSIONS = { bytes: changeAndAsk, reads: false, todos: MANY_TODOS, megabytes: 150 };

function head(fields: string): Buffer {
  return Buffer.from(`POST /todos HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n${fields}\r\n{`);
}

const HEADS = { connections: 500, reads: true, todos: 1, megabytes: 120, processorSeconds: 2 };

/** Too large a body: its answer is its last. */
const ANSWERED = {
  bytes: () => Buffer.from('POST /todos HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n'),
  reads: true,
  todos: 1,
} as const;

export const SCENARIOS: readonly Scenario[] = [
  {
    ...CHUNKS,
    name: 'chunks-without-token',
    what: '60 bodies in chunks of one byte, without a token',
    bytes: () => oneByteChunks(''),
  },
  {
    ...CHUNKS,
    name: 'chunks-with-token',
    what: '60 bodies in chunks of one byte, with a token',
    bytes: (token) => oneByteChunks(`Authorization: Bearer ${token}\r\n`),
  },
  {
    name: 'pipelines',
    what: '10 connections with 3 MB of requests each, no answer read',
    connections: 10,
    bytes: () => Buffer.from(GET.repeat(3_000_000 / GET.length)),
    reads: false,
    todos: 1,
    megabytes: 60,
    processorSeconds: 3,
  },
  {
    name: 'unread-lists',
    what: '50 readers of 200 lists of 6,000 todos, none read',
    connections: 50,
    bytes: (token) =>
      Buffer.from(`GET /todos HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`.repeat(200)),
    reads: false,
    todos: 6_000,
    megabytes: 80,
    processorSeconds: 2,
  },
  {
    ...VERSIONS,
    name: 'compressed-versions',
    what: '150 readers of 150 versions of 150,000 todos in gzip, none read',
    connections: 150,
    opensEveryMs: 50,
    processorSeconds: 15,
  },
  {
    ...VERSIONS,
    name: 'many-compressed-versions',
    what: '1,000 readers of 1,000 versions of 150,000 todos in gzip, none read',
    connections: 1_000,
    opensEveryMs: 8,
    processorSeconds: 30,
  },
  {
    ...HEADS,
    name: 'many-fields',
    what: '500 heads of 3,500 fields, and a body that does not end',
    bytes: () => head('a:\r\n'.repeat(3_500)),
  },
  {
    ...HEADS,
    name: 'long-fields',
    what: '500 heads of 90 fields of 170 bytes, and a body that does not end',
    bytes: () => head(Array.from({ length: 90 }, (_, n) => `a${n}: ${'b'.repeat(162)}\r\n`).join('')),
  },
  {
    ...ANSWERED,
    name: 'floods-after-answer',
    what: '60 connections that go on sending all that they can behind their last answer, and open anew',
    connections: 60,
    goesOn: 'floods',
    megabytes: 150,
    processorSeconds: 20,
  },
  {
    ...ANSWERED,
    name: 'drips-after-answer',
    what: '1,000 connections that go on sending a byte a second behind their last answer',
    connections: 1_000,
    goesOn: 'drips',
    megabytes: 60,
    processorSeconds: 2,
  },
];
