import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { test } from 'node:test';
import { runTests } from './inner-run.ts';

const begin = `import { spawn } from 'node:child_process';
  import { once } from 'node:events';
  import { test } from 'node:test';
  const wait = new Int32Array(new SharedArrayBuffer(4));`;
const server = new URL('../storage/postgres-server.ts', import.meta.url);

/** Files that hang, each in its way. */
const HANGING = {
  promise: `test('a promise', async () => { setInterval(() => {}, 1_000); await new Promise(() => {}); });`,
  loop: `test('over', () => {}); test('a blocked loop', () => Atomics.wait(wait, 0, 0));`,
  top: `setInterval(() => {}, 1_000); await new Promise(() => {});`,
  held: `test('leaves a timer', () => { setInterval(() => {}, 1_000); });`,
  program: `test('a program', async () => {
    const code = "require('net').createServer().listen(0, function () { console.log(this.address().port) })";
    const child = spawn('sh', ['-c', '"$0" -e "$1" & wait', process.execPath, code]);
    console.log('port=' + (await once(child.stdout, 'data')));
    Atomics.wait(wait, 0, 0);
  });`,
  postgres: `import { PostgresServer } from '${server}';
  test('a PostgreSQL', async () => {
    const server = await PostgresServer.start();
    console.log('port=' + server.port + '\\nfolder=' + server.dataFolder);
    await new Promise(() => {});
  });`,
};

/** Seconds. A busy machine takes some to begin with the first test. */
const LIMIT = '15';

const hanging = runTests(
  Object.fromEntries(Object.entries(HANGING).map(([name, code]) => [name, begin + code])),
  { env: { HANGS_AFTER_S: LIMIT }, flags: ['--test-concurrency=6'] },
);
const inRunner = runTests(
  { promise: begin + HANGING.promise },
  { env: { HANGS_AFTER_S: LIMIT }, flags: ['--test-isolation=none'] },
);
const longer = runTests(
  {
    longer: `${begin} test('longer', { timeout: 600_000 }, (_, done) => setTimeout(done, ${LIMIT}_000 + 5_000));`,
  },
  { env: { HANGS_AFTER_S: LIMIT } },
);

test('a test that hangs ends its file, in whichever way it does, and is named', async () => {
  const { code, stdout } = await hanging;
  assert.deepEqual(stdout.match(/^hung: .*$/gm)?.sort(), [
    'hung: a PostgreSQL',
    'hung: a blocked loop',
    'hung: a program',
    'hung: a promise',
    'hung: held.test.mjs, after "leaves a timer"',
    'hung: top.test.mjs',
  ]);
  assert.match(stdout, /^ℹ fail 6$/m);
  assert.equal(code, 1);
});

test('a test that hangs takes along what it has started, programs of programs too', async () => {
  const { stdout } = await hanging;
  const ports = [...stdout.matchAll(/^port=(\d+)$/gm)].map(([, port]) => Number(port));
  assert.equal(ports.length, 2);
  for (const port of ports) {
    const { promise, resolve } = Promise.withResolvers();
    connect(port, '127.0.0.1', () => resolve('it listens')).once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code),
    );
    assert.equal(await promise, 'ECONNREFUSED');
  }
});

test('a PostgreSQL of a test that hangs leaves no folder, which may be in memory', async () => {
  const [, folder = '/'] = /^folder=(.*)$/m.exec((await hanging).stdout) ?? [];
  assert.equal(existsSync(folder), false);
});

test('a test that hangs in the process of the runner ends that', async () => {
  assert.notEqual((await inRunner).code, 0);
});

test('a longer timeout of a test counts', { skip: process.versions.node < '26' }, async () => {
  const { code, stdout } = await longer;
  assert.match(stdout, /^ℹ pass 1$/m);
  assert.equal(code, 0);
});
