import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { assertRefused } from '../../packages/conformance/src/chapters/authentication.ts';
import { json } from '../../packages/conformance/src/http.ts';
import { assertProblem } from '../../packages/conformance/src/problem.ts';
import { makeTodo, send, type Todo } from '../../packages/conformance/src/target.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startList } from '../support/list.ts';
import { runCommand } from '../support/run-command.ts';
import { startService } from '../support/start.ts';
import { auth, errorDemoOf, sharedListOf } from './target-of.ts';

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`after ${signal} todos and categories are as they were, and ids are not reused [What the service does 1; D7]`, async () => {
    await using folder = await temporaryFolder();
    const start = () => startService({ environment: 'production', auth, dataDir: folder.path });
    const first = await start();
    const before = sharedListOf(first, 'production');
    const kept = await makeTodo(before, 'Kept');
    const deleted = await makeTodo(before, 'Deleted');
    await send(before, `DELETE /todos/${deleted.id}`, { token: before.tokens.editor });
    await first.stop(signal);
    await using second = await start();
    const target = sharedListOf(second, 'production');
    const list = await send(target, 'GET /todos', { token: target.tokens.reader });
    assert.deepEqual(json(list), [kept]);
    assert.ok((await makeTodo(target)).id > deleted.id);
    const third = { token: target.tokens.editor, json: { title: 'Buy milk', categoryId: 3 } };
    assertProblem(await send(target, 'POST /todos', third), 400, { title: 'Category not found' });
  });
}

test('the error demo starts anew: its todo is not done [D2]', async () => {
  await using folder = await temporaryFolder();
  for (let starts = 0; starts < 2; starts += 1) {
    await using service = await startService({ profile: 'error-demo', dataDir: folder.path });
    const target = errorDemoOf(service, 'production');
    assert.equal((json(await send(target, 'GET /todos/1')) as Todo).done, false);
    assert.equal((await send(target, 'POST /todos/1/complete')).status, 200);
  }
});

test('when the 32-bit range is used up, creating is a 500, and the log says why [D5]', async () => {
  await using list = await startList();
  await makeTodo(list.target);
  {
    using database = new DatabaseSync(join(list.dataDir, 'todos.db'));
    database.exec("UPDATE sqlite_sequence SET seq = 2147483647 WHERE name = 'todos'");
  }
  const reply = await list.send('POST /todos', { json: { title: 'One too many', categoryId: 1 } });
  const { traceId } = assertProblem(reply, 500, { headers: { location: undefined } });
  const [entry, ...more] = list.lines(/./).filter((line) => line.traceId === traceId);
  assert.deepEqual(more, []);
  assert.match(JSON.stringify(entry), /every id up to 2147483647 has been given out/);
});

test('a development token is refused from the second of its expiry on [A8]', async () => {
  await using service = await startService({ environment: 'development' });
  const data = ['--data-dir', service.dataDir];
  const made = await runCommand(['token', 'create', '--name', 'ada', '--lifetime', '1s', ...data]);
  const token = made.stdout.trim();
  const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    exp: number;
  };
  while (Date.now() < exp * 1000) await delay(20);
  const target = sharedListOf(service, 'development');
  assertRefused(await send(target, 'GET /todos', { token }));
});

test('a token of the developer tool works in development, and production refuses it [A12; Authentication 9]', async () => {
  await using folder = await temporaryFolder();
  const made = await runCommand([
    'token',
    'create',
    '--name',
    'ada',
    '--role',
    'editor',
    '--data-dir',
    folder.path,
  ]);
  assert.equal(made.code, 0, made.stderr);
  const token = made.stdout.trim();
  {
    await using service = await startService({ environment: 'development', dataDir: folder.path });
    const target = sharedListOf(service, 'development');
    const me = await send(target, 'GET /me', { token });
    assert.equal(me.body.toString(), '{"name":"ada"}');
    const request = { token, json: { title: 'Buy milk', categoryId: 1 } };
    assert.equal((await send(target, 'POST /todos', request)).status, 201);
  }
  await using service = await startService({ environment: 'production', auth, dataDir: folder.path });
  assertRefused(await send(sharedListOf(service, 'production'), 'GET /me', { token }));
});
