import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { json } from '../../conformance/src/http.ts';
import { makeTodo, send } from '../../conformance/src/target.ts';
import { startService } from '../start.ts';
import { auth, sharedListOf } from './target-of.ts';

test('conformance · a service of ours conforms, and is left as it was found', async () => {
  await using service = await startService({ environment: 'development', auth });
  const target = sharedListOf(service, 'development');
  const { editor, reader } = target.tokens;
  const before = [await makeTodo(target, 'Somebody’s'), await makeTodo(target, 'Somebody else’s')];
  const tokens = ['--editor-token', editor, '--reader-token', reader];
  const run = await conformance('--base-url', service.baseUrl, '--environment', 'development', ...tokens);
  assert.equal(run.code, 0, run.output);
  assert.match(run.output, /^Left out: .*A5 to A11 \(tokens made at will\).*$/m);
  assert.deepEqual(json(await send(target, 'GET /todos', { token: reader })), before);
});

test('conformance · an error demo of ours conforms, and its todo is left as it was found', async () => {
  await using service = await startService({ profile: 'error-demo' });
  const run = await conformance('--base-url', `${service.baseUrl}/`, '--profile', 'error-demo');
  assert.equal(run.code, 0, run.output);
  const reply = await fetch(`${service.baseUrl}/todos/1`);
  assert.equal(((await reply.json()) as { done: boolean }).done, false);
});

test('conformance · a service that answers everything with 200 does not conform', async () => {
  const server = createServer({ keepAliveTimeout: 1 }, (_request, response) => response.end('[]')).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const run = await conformance('--base-url', `http://127.0.0.1:${port}`, '--profile', 'error-demo');
  server.close();
  assert.equal(run.code, 1, run.output);
  assert.match(run.output, /R2 · an id that is not a 32-bit integer/);
});

test('conformance · todos are deleted also when tests fail', async () => {
  await using service = await startService({ environment: 'development', auth });
  const target = sharedListOf(service, 'development');
  const { editor, reader } = target.tokens;
  // Two editors: every test of the missing role fails, and its writes go through.
  const tokens = ['--editor-token', editor, '--reader-token', editor];
  const run = await conformance('--base-url', service.baseUrl, ...tokens);
  assert.equal(run.code, 1, run.output);
  assert.equal((await send(target, 'GET /todos', { token: reader })).body.toString(), '[]');
});

test('conformance · a service that cannot be reached, or refuses a token, is one clear message', async () => {
  const tokens = ['--editor-token', 'a.b.c', '--reader-token', 'a.b.c'];
  const nowhere = await conformance('--base-url', 'http://127.0.0.1:9', ...tokens);
  assert.equal(nowhere.code, 1);
  assert.match(
    nowhere.output,
    /^Cannot test http:\/\/127\.0\.0\.1:9\/: connect ECONNREFUSED .*Is the service running/,
  );

  await using service = await startService({ environment: 'development', auth });
  const refused = await conformance('--base-url', service.baseUrl, ...tokens);
  assert.equal(refused.code, 1);
  assert.match(refused.output, /^Cannot test .*--editor-token answered 401: Bearer .*invalid_token/);
});

test('conformance · wrong usage is explained, with exit code 2', async () => {
  const wrong: readonly (readonly [RegExp, ...string[]])[] = [
    [/--base-url is missing/],
    [/Unknown option '--colour'/, '--base-url', 'http://127.0.0.1:9', '--colour'],
    [/--base-url must be an http or https URL, received "127"/, '--base-url', '127'],
    [/--profile must be shared-list or error-demo, received "x"/, '--base-url', 'http://a', '--profile', 'x'],
    [/--environment must be development or production/, '--base-url', 'http://a', '--environment', 'x'],
    [/needs --editor-token and --reader-token/, '--base-url', 'http://a', '--editor-token', 'x'],
  ];
  for (const [message, ...args] of wrong) {
    const run = await conformance(...args);
    assert.equal(run.code, 2, run.output);
    assert.match(run.output, message);
  }
  for (const flag of ['--help', '-h']) {
    const help = await conformance(flag);
    assert.equal(help.code, 0);
    assert.match(help.output, /Examples:/);
  }
});

async function conformance(...args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const program = fileURLToPath(new URL('../../conformance/src/main.ts', import.meta.url));
  // With it, the program would report to this test's runner instead of to a person.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await once(child, 'close');
  return { code: child.exitCode, output };
}
