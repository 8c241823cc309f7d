import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { closedToOthers, temporaryFolder } from '../support/folder.ts';
import { runCommand } from '../support/run-command.ts';
import { endOf, PROGRAM, runProgram, start } from '../support/start.ts';

const DEMO = ['serve', '--profile', 'error-demo'];

/** Milliseconds. Longer than any start on a slow machine. */
const HANGS_MS = 240_000;

async function statusAt(socketPath: string): Promise<number | undefined> {
  const asked = request({ socketPath, path: '/todos/1', agent: false }).end();
  const [response] = await once(asked, 'response');
  response.resume();
  return response.statusCode;
}

/** Starts the error demo on a path; `serving` is false when it has ended before its first line. */
function startAt(path: string, env: Readonly<Record<string, string>> = {}) {
  const child = start(DEMO, { TODO_SOCKET: path, ...env });
  const ended = endOf(child);
  return { child, ended, serving: isServing(child, ended) };
}

async function isServing(child: ReturnType<typeof start>, ended: Promise<unknown>): Promise<boolean> {
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    log += text;
  });
  const over = ended.then(() => true);
  while (!log.includes('"started"')) {
    if (await Promise.race([over, once(child.stdout, 'data').then(() => false)])) return false;
  }
  return true;
}

/** Leaves the file of a socket on which nobody listens. */
async function leaveStale(path: string): Promise<void> {
  const { child, serving } = startAt(path);
  await serving;
  await kill(child);
  assert.ok(lstatSync(path).isSocket());
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('TODO_SOCKET', { concurrency: 2, timeout: HANGS_MS }, () => {
  test('is listened on in place of host and port, shown by the first line and config, and removed at a stop [D13; D22]', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'todo.sock');
    // The port of a platform does not count.
    const env = { TODO_SOCKET: path, PORT: 'http' };
    const child = start([...DEMO], env);
    const [first] = await once(child.stdout, 'data');
    const { event, url, portFrom } = JSON.parse(String(first));
    assert.deepEqual([event, url, portFrom], ['started', `unix:${path}`, undefined]);
    assert.deepEqual(readdirSync(folder.path), ['todo.sock']);
    const curl = ['--silent', '--unix-socket', path, 'http://localhost/todos/1'];
    assert.equal(JSON.parse((await promisify(execFile)('curl', curl)).stdout).id, 1);
    child.kill('SIGTERM');
    assert.equal((await endOf(child)).end, 0);
    assert.deepEqual(readdirSync(folder.path), []);

    const { stdout } = await runCommand(['config', '--profile', 'error-demo'], { env });
    assert.equal(/^TODO_SOCKET +(\S.*?) +variable$/m.exec(stdout)?.[1], `unix:${path}`);
    assert.match(stdout, /^TODO_SOCKET_MODE +660 +default$/m);
    assert.match(stdout, /^TODO_PORT +not used +PORT$/m);
    assert.doesNotMatch(stdout, /^TODO_HOST/m);
  });

  test('takes an empty Host, in one line, and no other value that TCP refuses [D13; Order 1]', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'todo.sock');
    const { child, serving } = startAt(path);
    assert.ok(await serving);
    for (const [lines, status] of [
      ['Host:\r\n', 200],
      ['Host: \t\r\n', 200],
      ['host: localhost\r\n', 200],
      ['Host:\r\nHost:\r\n', 400],
      ['Host:\r\nHost: a\r\n', 400],
      ['', 400],
      ['Host: :80\r\n', 400],
      [`Host: ${path}\r\n`, 400],
    ] as const) {
      const socket = connect(path);
      socket.end(`GET /todos/1 HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`);
      assert.match(await text(socket), new RegExp(`^HTTP/1.1 ${status} `), JSON.stringify(lines));
    }
    await kill(child);
  });

  test('development greets with it, and with no address for a browser [D22]', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'todo.sock');
    const child = start([...DEMO, '--environment', 'development', '--socket', path]);
    const [greeting] = await once(child.stdout.setEncoding('utf8'), 'data');
    child.kill('SIGTERM');
    await once(child, 'exit');
    assert.ok(greeting.includes(`\n  listening  unix:${path}\n  database `), greeting);
  });

  for (const [mode, umask] of ['600', '660', '666', undefined].flatMap((mode) => [
    [mode, '077'],
    [mode, '000'],
  ])) {
    test(`has the mode ${mode ?? '660, unless it is set,'} whatever umask says, here ${umask} [D13]`, async () => {
      await using folder = await temporaryFolder();
      const path = join(folder.path, 'todo.sock');
      const words = ['-c', `umask ${umask} && exec "$0" "$@"`, process.execPath, PROGRAM, ...DEMO];
      const env = { ...process.env, TODO_SOCKET: path, TODO_SOCKET_MODE: mode };
      const child = spawn('sh', words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
      await once(child.stdout, 'data');
      const found = (lstatSync(path).mode & 0o777).toString(8);
      await kill(child);
      assert.equal(found, mode ?? '660');
    });
  }

  test('of two starts at once on a file on which nobody listens, one serves, and the other ends with 69 [D13; D15]', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'todo.sock');
    await leaveStale(path);
    for (let round = 0; round < 3; round += 1) {
      const two = [startAt(path), startAt(path)];
      const serving = await Promise.all(two.map((one) => one.serving));
      assert.deepEqual(serving.toSorted(), [false, true]);
      assert.equal(await statusAt(path), 200);
      const loser = await two[serving.indexOf(false)]?.ended;
      assert.deepEqual(loser, {
        end: 69,
        said: `Cannot start: cannot listen on ${path}: another program has it: choose another path\n`,
      });
      const winner = two[serving.indexOf(true)]?.child;
      assert.ok(winner);
      await kill(winner);
      assert.deepEqual(readdirSync(folder.path), ['todo.sock']);
    }
  });

  test('a file that is no socket stays as it is in its place, and ends the start with 78 [D13; D15]', async () => {
    await using folder = await temporaryFolder();
    const path = await folder.write('todo.sock', 'mine');
    const { end, said } = await startAt(path).ended;
    assert.equal(said, `Cannot start: cannot listen on ${path}: it is a regular file, and stays as it is\n`);
    assert.equal(end, 78);
    assert.equal(readFileSync(path, 'utf8'), 'mine');
  });

  test('a folder without the right to write is named, with 78 [D15]', {
    skip: closedToOthers(),
  }, async () => {
    await using folder = await temporaryFolder();
    const run = join(folder.path, 'run');
    mkdirSync(run, { mode: 0o555 });
    spawnSync('chmod', ['755', folder.path]);
    const user = process.getuid?.() === 0 ? { user: { uid: 65_534, gid: 65_534 } } : {};
    const env = { TODO_SOCKET: join(run, 'todo.sock'), NODE_COMPILE_CACHE: '' };
    const { code, stderr } = await runProgram(DEMO, { env, ...user });
    assert.equal(code, 78);
    assert.match(stderr, /: the process has no right to make a file in "\/.*\/run"\n$/);
  });

  for (const path of [
    'todo.sock',
    './todo.sock',
    '@todo',
    'unix:/run/todo.sock',
    '~/todo.sock',
    '/',
    '/run/todo/',
    `/${'a'.repeat(96)}`,
    `/${'ä'.repeat(48)}`,
  ]) {
    test(`${path} is no path of it, says config too, with 78 [D13; D15]`, async () => {
      for (const command of ['serve', 'config']) {
        const env = { TODO_SOCKET: path };
        const { code, stderr } = await runCommand([command, '--profile', 'error-demo'], { env });
        assert.equal(code, 78);
        const wanted = 'TODO_SOCKET must be an absolute path of a file, of at most 96 bytes';
        assert.match(
          stderr,
          new RegExp(`^Cannot start, the configuration has faults:\\n {2}${wanted}, received .*\\n$`),
        );
      }
    });
  }

  test('the longest path can be listened on [D13]', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'a'.repeat(95 - Buffer.byteLength(folder.path)));
    assert.equal(Buffer.byteLength(path), 96);
    const { child, serving, ended } = startAt(path);
    assert.ok(await serving);
    assert.equal(await statusAt(path), 200);
    child.kill('SIGTERM');
    assert.equal((await ended).end, 0);
  });

  test('beside it, host and port are faults, a line each, with 78 [D22]', async () => {
    const words = ['config', '--profile', 'error-demo', '--socket', '/run/todo.sock', '--port', '0'];
    const { code, stderr } = await runCommand(words, { env: { TODO_HOST: '0.0.0.0', PORT: '1' } });
    assert.equal(code, 78);
    const lines = ['TODO_HOST', '--port'].map((name) => `  ${name} must not be set beside --socket\n`);
    assert.equal(stderr, `Cannot start, the configuration has faults:\n${lines.join('')}`);
  });

  for (const mode of ['777', '0660', '660 ', 'rw', '']) {
    test(`the mode ${JSON.stringify(mode)} is ${mode === '' ? 'as if it were not set' : 'a fault with 78'} [D13]`, async () => {
      const env = { TODO_SOCKET: '/run/todo.sock', TODO_SOCKET_MODE: mode };
      const { code, stderr } = await runCommand(['config', '--profile', 'error-demo'], { env });
      assert.equal(code, mode === '' ? 0 : 78);
      if (mode !== '')
        assert.match(stderr, /\n {2}TODO_SOCKET_MODE must be one of "600", "660", "666", received /);
    });
  }

  test('a stop answers all that have connected [D13]', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'todo.sock');
    const { child, serving, ended } = startAt(path);
    assert.ok(await serving);
    child.kill('SIGSTOP');
    const answered = Array.from({ length: 40 }, () => statusAt(path));
    await pause(100);
    child.kill('SIGTERM');
    child.kill('SIGCONT');
    assert.deepEqual(await Promise.all(answered), Array(40).fill(200));
    assert.equal((await ended).end, 0);
  });
});
