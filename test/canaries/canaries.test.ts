import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { signer } from '../../packages/conformance/src/sign.ts';
import { listen } from '../support/folder.ts';
import { testAuth } from '../support/list.ts';
import { quoted } from '../support/quoted.ts';
import { type Canaries, keepCanaries } from './canaries.ts';
import { watchSockets } from './sockets.ts';

const TOKEN = signer(testAuth())();
const TITLE = 'Water the plants';
const SENT = `POST /todos HTTP/1.1\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n{"title":"${TITLE}","categoryId":1}`;

function kept(): Canaries {
  const canaries = keepCanaries();
  canaries.keepSecret('a secret of a test');
  canaries.keepSent(SENT);
  return canaries;
}

for (const [what, text] of [
  ['a secret', 'it is a secret of a test.'],
  ['a token', `Bearer ${TOKEN}`],
  ['a token', `the signature ${TOKEN.split('.')[2]} is wrong`],
  ['a token', `the claims ${TOKEN.split('.')[1]}`],
  ['a path', `${import.meta.filename} is missing`],
  ['a path', join(tmpdir(), 'todo-service-x', 'todos.db')],
  ['a stack', 'Error: no\n    at listTodos (file:///app/list.ts:3:1)'],
  ['a stack', 'Error: no\n    at async Server.read (node:internal/fs:3:1)'],
] as const) {
  test(`${what} in an answer is found: ${quoted(text.slice(0, 20))}`, () => {
    const canaries = kept();
    canaries.searchAnswer(text, false);
    assert.match(canaries.take().join('\n'), new RegExp(`^${what} is in an answer: `));
  });
}

test('a title is found in an error and in an output, and may be in a success', () => {
  const canaries = kept();
  canaries.searchAnswer(`{"title":"${TITLE}"}`, false);
  assert.deepEqual(canaries.take(), []);
  canaries.searchAnswer(`{"detail":"${TITLE}"}`, true);
  canaries.searchOutput(`{"msg":"${TITLE}"}`);
  assert.match(canaries.take().join('\n'), /^a title is in an error: .*\na title is in an output: /);
});

test('wherever the repository lies, the paths of others are not found, and its own are', () => {
  const canaries = keepCanaries('/app/');
  canaries.searchAnswer('"/var/log/app/server.log","/home/user/projects/app/src/index.ts"', false);
  assert.deepEqual(canaries.take(), []);
  canaries.searchAnswer('"file:///app/src/main.ts"', false);
  assert.match(canaries.take().join('\n'), /^a path is in an answer: /);
});

test('an output may have paths and stacks, and a token where that is what it is for', () => {
  const canaries = kept();
  canaries.searchOutput(`${import.meta.filename}\n    at read (file:///app/list.ts:3:1)`);
  canaries.searchOutput(`${TOKEN}\n`, 'tokens');
  assert.deepEqual(canaries.take(), []);
  canaries.searchOutput(`${TOKEN}\n`);
  assert.match(canaries.take().join('\n'), /^a token is in an output: /);
});

test('what fetch sends is kept, and what comes back is searched, in pieces too', async () => {
  const kept = keepCanaries();
  // Known to these canaries alone: those of the whole run must not find it.
  const secret = 'a secret that this answer shows';
  kept.keepSecret(secret);
  const sent: string[] = [];
  watchSockets({ ...kept, keepSent: (request) => sent.push(request) });
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Length': secret.length }).write(secret.slice(0, 9));
    setImmediate(() => response.end(secret.slice(9)));
  });
  const port = await listen(server);
  await (await fetch(`http://127.0.0.1:${port}`, { headers: { 'x-sent': 'by fetch' } })).text();
  server.close();
  assert.match(sent.join(''), /x-sent: by fetch/);
  assert.match(kept.take().join('\n'), /^a secret is in an answer: /);
});
