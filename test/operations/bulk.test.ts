import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProgram } from '../start.ts';
import { startList } from './list.ts';
import { converse } from './raw.ts';

test('1,000 refused requests write no line at the default level', async () => {
  await using list = await startList();
  const before = list.log.length;
  const head = `GET /todos HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${list.reader}x\r\n`;
  const many = `${head}\r\n`.repeat(999);
  const answers = await converse(list.url, `${many}${head}Connection: close\r\n\r\n`);
  assert.equal(answers.length, 1_000);
  assert.ok(answers.every(({ status }) => status === 401));
  assert.equal(list.log.length, before);
});

test('1,000 requests that are not HTTP write no line at the default level', async () => {
  await using list = await startList();
  const before = list.log.length;
  for (let round = 0; round < 20; round += 1) {
    const all = await Promise.all(Array.from({ length: 50 }, () => converse(list.url, 'not http\r\n\r\n')));
    assert.ok(all.every(([answer]) => answer?.status === 400));
  }
  assert.equal(list.log.length, before);
});

for (const database of [
  'postgres://user:canary-6c2d@127.0.0.1:9/todos',
  'mysql://user:canary-6c2d@127.0.0.1/todos',
  'postgres://user:canary-6c2d@127.0.0.1:port/todos',
]) {
  test(`a start that fails never shows the password of ${database.replace(/canary-6c2d/, '…')}`, async () => {
    const { code, stdout, stderr } = await runProgram(
      ['serve', '--environment', 'development', '--port', '0'],
      {
        env: { TODO_DATABASE: database, TODO_LOG_LEVEL: 'trace', TODO_DATA_DIR: '/nonexistent' },
      },
    );
    assert.notEqual(code, 0);
    assert.match(stderr, /^Cannot start/);
    assert.doesNotMatch(stdout + stderr, /canary-6c2d/);
  });
}
