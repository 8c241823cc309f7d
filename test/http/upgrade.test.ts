import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { cases } from '../support/cases.ts';
import { HURRIED, setClocks, startDemo } from '../support/demo.ts';
import { Connection } from '../support/raw.ts';

const demo = await startDemo({ limits: { connectionsCheckingInterval: 50 } });
after(() => demo[Symbol.asyncDispose]());

const UPGRADES = ['h2c', 'websocket', 'TLS/1.2'].flatMap((protocol) => [
  `Upgrade: ${protocol}\r\n`,
  `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: ${protocol}\r\nHTTP2-Settings: AAMAAABk\r\n`,
]);

/** Request lines, and what each is answered with. */
const LINES = { 'GET /todos/1': 200, 'POST /nope': 404, 'PATCH /todos/1': 405, 'HEAD /todos/2': 404 };

/** What stands between `Host` and the end of a message. */
const BODIES = [
  '\r\n',
  'Content-Length: 29\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n{}',
  'Transfer-Encoding: chunked\r\n\r\n6\r\n\r\n\r\n{}\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n',
];

const requests = fc.array(
  fc.record({
    line: fc.constantFrom(...Object.entries(LINES)),
    upgrade: fc.constantFrom('', ...UPGRADES),
    body: fc.constantFrom(...BODIES),
  }),
  { minLength: 1, maxLength: 4 },
);

const FOREIGN = [
  ['a preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
  ['a frame of HTTP/2', '\0\0\0\x04\x01\0\0\0\0'],
  ['a frame of a WebSocket', '\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58'],
  ['two lengths', 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  ['a head of 40 KB', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
] as const;

const LAST = 'GET /todos/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Writes the bytes in packets of this size, as far as TCP leaves them. */
async function writeCut({ socket }: Connection, bytes: string, size: number): Promise<void> {
  socket.setNoDelay();
  for (let from = 0; from < bytes.length; from += size) {
    const packet = Buffer.from(bytes.slice(from, from + size), 'latin1');
    await new Promise((written) => socket.write(packet, written));
  }
}

describe('An Upgrade is ignored', () => {
  test('whatever stands behind an Upgrade is framed as without it: requests, bodies, trailers, cut anywhere [R9]', async () => {
    const sizes = fc.constantFrom(1, 7, 100, 100_000);
    const property = fc.asyncProperty(requests, sizes, async (several, size) => {
      const bytes = several.map(
        ({ line, upgrade, body }) => `${line[0]} HTTP/1.1\r\nHost: a\r\n${upgrade}${body}`,
      );
      await using connection = await Connection.open(demo.url);
      await writeCut(connection, bytes.join('') + LAST, size);
      await connection.closed();
      const statuses = [...connection.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) =>
        Number(status),
      );
      assert.deepEqual(statuses, [...several.map(({ line }) => line[1]), 200]);
    });
    await fc.assert(property, { seed: 20261123, numRuns: cases(100, 1_000) });
  });

  for (const [name, foreign] of FOREIGN) {
    test(`nothing behind an Upgrade that is no HTTP is taken for a request, and a 408 ends it · ${name} [Order 1]`, async () => {
      let parsed = 0;
      const count = () => {
        parsed += 1;
      };
      setClocks(demo);
      await using connection = await Connection.open(demo.url);
      demo.server.prependListener('request', count);
      const bytes = `GET /todos/1 HTTP/1.1\r\nHost: a\r\n${UPGRADES[1]}\r\n${foreign}${LAST}`;
      connection.socket.write(Buffer.from(bytes, 'latin1'));
      await connection.until('"done"');
      setClocks(demo, HURRIED);
      await connection.closed();
      demo.server.off('request', count);
      assert.deepEqual(connection.statuses(), [200, 408]);
      assert.equal(parsed, 1);
    });
  }
});
