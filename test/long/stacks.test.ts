import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { after, test } from 'node:test';
import { startDemo } from '../support/demo.ts';
import { listen } from '../support/folder.ts';
import { GETS, outputOf, UPLOADS } from './stacks.ts';

// A stack is compiled before it asks; that of Go, the first time, takes half a minute of the processor.

const demo = await startDemo();
after(() => demo[Symbol.asyncDispose]());

for (const stack of UPLOADS) {
  test(`ten uploads of 5 MB by ${stack.name} get their 413 [B5]`, { skip: stack.missing }, async () => {
    assert.deepEqual(await outputOf(stack, `${demo.url}/todos/1/complete`), Array(10).fill('413'));
  });
}

/** How many connections a server gets while this runs. */
async function connectionsTo(server: Server, ask: () => Promise<unknown>): Promise<number> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => sockets.add(socket);
  server.on('connection', keep);
  await ask();
  server.off('connection', keep);
  return sockets.size;
}

for (const stack of GETS) {
  test(`500 requests of ${stack.name} take no more connections than they take of a bare node:http [R9]`, {
    skip: stack.missing,
  }, async () => {
    await using bare = createServer((_, response) => response.end('{}'));
    const bareUrl = `http://127.0.0.1:${await listen(bare)}`;
    const counts = [];
    for (const [server, url] of [
      [bare, bareUrl],
      [demo.server, demo.url],
    ] as const) {
      const ask = async () => {
        assert.deepEqual(await outputOf(stack, `${url}/todos/1`, '500'), Array(500).fill('200'));
      };
      counts.push(await connectionsTo(server, ask));
    }
    const [allowed = 0, taken = 0] = counts;
    assert.ok(taken <= allowed, `${taken} connections, ${allowed} to node:http`);
  });
}
