import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../folder.ts';
import { runProgram, startService } from '../start.ts';

const program = fileURLToPath(new URL('../../src/start.js', import.meta.url));

test('development greets with profile, environment, URL, the page for a browser, database and the token command', async () => {
  await using service = await startService({ environment: 'development' });
  const greeting = service.stdout();
  assert.match(greeting, /profile shared-list, development/);
  const { baseUrl } = service;
  assert.ok(greeting.includes(`\n  listening  ${baseUrl}\n  browser    ${baseUrl}/scalar\n`), greeting);
  assert.match(greeting, /database {3}sqlite:.*todos\.db\n/);
  const command = `npm run -s token -- --name ada --role editor --data-dir ${service.dataDir}`;
  assert.ok(greeting.includes(`  a token    ${command}\n`), greeting);
});

test('development that trusts an issuer does not greet with a token command, which would refuse', async () => {
  const auth = { issuer: 'https://issuer.test', audience: 'todo-service', secret: randomBytes(32) };
  await using service = await startService({ environment: 'development', auth });
  assert.match(service.stdout(), /profile shared-list, development/);
  assert.doesNotMatch(service.stdout(), /a token/);
});

test('development without the package of the reference page does not greet with its address', async () => {
  const without = `import { registerHooks } from 'node:module';
    registerHooks({
      resolve(name, context, next) {
        return next(name.startsWith('@scalar/') ? 'not-installed' : name, context);
      },
    });`;
  const env = {
    NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(without).toString('base64')}`,
  };
  await using service = await startService({ profile: 'error-demo', environment: 'development', env });
  assert.match(service.stdout(), /there is no reference page: install @scalar/);
  assert.match(service.stdout(), /listening {2}http/);
  assert.doesNotMatch(service.stdout(), /\/scalar\n/);
});

test('production starts with one JSON line, and ends on SIGTERM with exit code 0', async () => {
  await using service = await startService({ profile: 'error-demo' });
  assert.equal(await service.stop(), 0);
  const events = service
    .stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    events.map(({ event }) => event),
    ['started', 'stopping', 'stopped'],
  );
  assert.equal(events[0].url, service.baseUrl);
  assert.deepEqual([events[0].database, events[0].keys], [undefined, undefined]);
  assert.equal(service.stderr(), '');
});

test('the line of a start has the database and the source of keys as fields, without words for people', async () => {
  const auth = { issuer: 'https://issuer.example', audience: 'todo-service', secret: randomBytes(32) };
  await using service = await startService({ auth });
  const lines = service.stdout().trimEnd().split('\n');
  const { database, keys, about } = JSON.parse(lines.at(-1) ?? '');
  assert.deepEqual(
    { database, keys, about },
    {
      database: `sqlite:${join(service.dataDir, 'todos.db')}`,
      keys: 'HMAC secret of 32 bytes from TODO_AUTH_SECRET_FILE',
      about: undefined,
    },
  );
});

test('D6 · a second process says whom it waits for, and a signal ends its wait', async () => {
  await using first = await startService({ environment: 'development' });
  const args = ['serve', '--environment', 'development', '--port', '0', '--data-dir', first.dataDir];
  const second = spawn(process.execPath, [program, ...args]);
  let output = '';
  for await (const chunk of second.stdout) {
    output += chunk;
    if (output.includes('waiting for the database file')) second.kill('SIGTERM');
  }
  assert.equal(second.exitCode ?? (await once(second, 'exit'))[0], 0);
  assert.match(output, new RegExp(`owner="process ${first.pid} on `));
  assert.match(output, /stopped during the start/);
});

for (const [variable, settings] of [
  ['TODO_PORT', '--port or TODO_PORT'],
  ['TODO_ADMIN_PORT', 'TODO_ADMIN_PORT'],
] as const) {
  test(`a port in use is one line that names ${settings}, and exit code 69`, async () => {
    await using server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const env = { TODO_PORT: '0', [variable]: String(port) };
    const { code, stderr } = await runProgram(['serve', '--profile', 'error-demo'], { env });
    assert.equal(code, 69);
    assert.equal(
      stderr,
      `Cannot start: cannot listen on 127.0.0.1 port ${port}: ` +
        `another program has that port: choose another one with ${settings}\n`,
    );
  });
}

test('D9 · a database that is no database is one line and exit code 69', async () => {
  await using data = await temporaryFolder();
  const path = join(data.path, 'letter.txt');
  await writeFile(path, 'Dear reader, this is not a database.\n'.repeat(100));
  const args = [
    'serve',
    '--environment',
    'development',
    '--port',
    '0',
    '--data-dir',
    data.path,
    '--database',
    `sqlite:${path}`,
  ];
  const { code, stderr } = await runProgram(args);
  assert.equal(code, 69);
  assert.match(stderr, /^Cannot start: Cannot open the database ".*": .*\n$/);
});
