import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { listen, temporaryFolder } from './folder.ts';
import { endOf, preloading, runProgram, start, startService } from './start.ts';

test('the address of a service is its own, also where its log names that of an issuer before', async () => {
  await using issuer = createServer((socket) => socket.destroy());
  const url = `http://127.0.0.1:${await listen(issuer)}`;
  const late = `import { Server } from 'node:net';
    const { listen } = Server.prototype;
    Server.prototype.listen = function (...args) {
      setTimeout(() => listen.apply(this, args), 1_000);
      return this;
    };`;
  const env = { ...preloading(late), TODO_AUTH_ISSUER: url, TODO_AUTH_AUDIENCE: 'todo-service' };
  await using service = await startService({ env });
  assert.equal((await fetch(`${service.baseUrl}/todos`)).status, 401);
});

test('what a command says is without the progress that it prints on a slow machine', async () => {
  await using folder = await temporaryFolder();
  const database = ['--database', `sqlite:${join(folder.path, 'todos.db')}`];
  assert.equal((await runProgram(['migrate', ...database])).code, 0);
  const env = preloading('let now = 0; performance.now = () => (now += 3_000);');
  const backup = (name: string) => ['backup', join(folder.path, name), ...database];
  const { code, stderr } = await runProgram(backup('one.db'), { env });
  assert.deepEqual([code, stderr], [0, '']);
  assert.deepEqual(await endOf(start(backup('two.db'), env)), { end: 0, said: '' });
});

test('a program trusts no authorities that the caller has chosen, whose file may be missing', async () => {
  const { NODE_EXTRA_CA_CERTS: before } = process.env;
  using _reset = { [Symbol.dispose]: () => setVariable(before) };
  setVariable('/no/file');
  const look = `import tls from 'node:tls'; tls.getCACertificates('extra');`;
  const { code, stderr } = await runProgram(['--version'], { env: preloading(look) });
  assert.deepEqual([code, stderr], [0, '']);
});

function setVariable(value: string | undefined): void {
  if (value === undefined) delete process.env.NODE_EXTRA_CA_CERTS;
  else process.env.NODE_EXTRA_CA_CERTS = value;
}
