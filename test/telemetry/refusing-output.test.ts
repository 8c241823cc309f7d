import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort, mountDisk, noMounts, temporaryFolder } from '../support/folder.ts';
import { Connection } from '../support/raw.ts';

const PROGRAM = fileURLToPath(new URL('../../src/start.js', import.meta.url));
const ON_LINUX =
  process.platform === 'linux' ? false : 'needs Linux: /dev/full, and a pipe opened at both ends';

type Line = Readonly<Record<string, unknown>>;

/** Starts the program with these descriptors as standard output and standard error, and closes the first. */
function launch(args: readonly string[], stdout: number, stderr: number | 'pipe' = 'pipe') {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--profile', 'error-demo', ...args], {
    stdio: ['ignore', stdout, stderr],
    env: { PATH: process.env.PATH, TODO_LOG_LEVEL: 'debug', TODO_ADMIN_PORT: '0' },
  });
  closeSync(stdout);
  const exited = once(child, 'exit').then(([code]) => code);
  return {
    child,
    exited,
    /** All of it, where it is a pipe: a stream that nobody reads is emptied when the program ends. */
    said: child.stderr && text(child.stderr),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Asks until `found` gives something. */
async function eventually<T>(found: () => T | undefined): Promise<T> {
  for (;;) {
    const value = found();
    if (value !== undefined) return value;
    await pause(20);
  }
}

function linesOf(log: string): Line[] {
  return log.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

function started(log: string): { url: string; adminUrl: string } | undefined {
  const end = log.lastIndexOf('\n') + 1;
  const line = linesOf(log.slice(0, end)).find(({ event }) => event === 'started');
  return line && { url: String(line.url), adminUrl: String(line.adminUrl) };
}

/** To its end: a reader may see a part of a line. */
const DROPPED = /"event":"log-lines-dropped".*\n/;

async function droppedLines(adminUrl: string): Promise<number> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(/^todo_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]);
}

/** Asks for the todo over one connection, a hundred times at once. */
async function ask(url: string, times: number): Promise<void> {
  await using connection = await Connection.open(url);
  for (let asked = 0; asked < times; asked += 100) {
    connection.socket.write('GET /todos/1 HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
    while (connection.received().split('HTTP/1.1 200 OK').length <= asked + 100) {
      await once(connection.socket, 'data');
    }
  }
}

/** Its `traceId`. */
async function crash(url: string): Promise<string> {
  const reply = await fetch(`${url}/crash`);
  assert.equal(reply.headers.get('content-type'), 'application/problem+json');
  const { status, traceId } = (await reply.json()) as { status: number; traceId: string };
  assert.equal(status, 500);
  return traceId;
}

/** Whether every line of a log is there or counted, crashes are there, and the counts are those of the metric. */
function assertAccounted(log: string, asked: number, dropped: number, traceId: string): void {
  const lines = linesOf(log);
  const counts = lines.flatMap((line) => (line.event === 'log-lines-dropped' ? [Number(line.dropped)] : []));
  const sum = counts.reduce((one, other) => one + other, 0);
  assert.equal(sum, dropped);
  assert.equal(lines.filter((line) => line.event === 'crash' && line.traceId === traceId).length, 1);
  // The crash has a line of its request too.
  assert.equal(lines.filter(({ event }) => event === 'request').length + dropped, asked + 1);
}

/** A named pipe that takes some 64 KiB; nobody reads it but `read`. */
function pipeAt(path: string) {
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_RDWR);
  const bytes = Buffer.alloc(65_536);
  let log = '';
  return {
    /** The service's, to be closed by `launch`. */
    writer,
    /** All that was ever in it. */
    read(): string {
      try {
        log += bytes.toString('utf8', 0, readSync(fd, bytes));
      } catch {
        // Nothing is there now.
      }
      return log;
    },
    [Symbol.dispose]: () => closeSync(fd),
  };
}

/** Reached only when something that must not wait does. */
const HANGS_MS = 300_000;

describe('A log that cannot be written', { concurrency: 2, timeout: HANGS_MS }, () => {
  test('on a full file system changes no answer, is counted, and says so when there is room again', {
    skip: noMounts(),
  }, async () => {
    await using folder = await temporaryFolder();
    const disk = join(folder.path, 'disk');
    using _mounted = mountDisk(disk, '128k');
    const path = join(disk, 'log');
    const filler = join(disk, 'filler');
    const read = () => readFileSync(path, 'utf8');
    await using service = launch(['--port', '0'], openSync(path, 'a'));
    const { url, adminUrl } = await eventually(() => started(read()));
    assert.throws(() => writeFileSync(filler, Buffer.alloc(262_144)), { code: 'ENOSPC' });
    await ask(url, 500);
    const traceId = await crash(url);
    let dropped = 0;
    // The service tries again in vain.
    while (dropped <= 400) dropped = await droppedLines(adminUrl);
    rmSync(filler);
    await eventually(() => DROPPED.exec(read()) ?? undefined);
    assertAccounted(read(), 500, dropped, traceId);
    service.child.kill('SIGTERM');
    assert.equal(await service.exited, 0);
    assert.equal(linesOf(read()).at(-1)?.event, 'stopped');
  });

  for (const environment of ['production', 'development']) {
    test(`from the start lets ${environment} serve and stop as ever`, { skip: ON_LINUX }, async () => {
      const port = await freePort();
      const args = ['--environment', environment, '--port', String(port)];
      await using service = launch(args, openSync('/dev/full', 'w'));
      const url = `http://127.0.0.1:${port}`;
      while ((await fetch(url).catch(() => undefined)) === undefined) await pause(20);
      await ask(url, 100);
      await crash(url);
      service.child.kill('SIGTERM');
      assert.equal(await service.exited, 0);
      assert.equal(await service.said, '');
    });
  }

  test('leaves the exit code of a start with faults as it is, standard error included', {
    skip: ON_LINUX,
  }, async () => {
    const full = openSync('/dev/full', 'w');
    await using service = launch(['--port', 'none'], openSync('/dev/full', 'w'), full);
    assert.equal(await service.exited, 78);
    closeSync(full);
  });
});

test('a log that nobody reads waits for its reader within bounds, keeps room for crashes, and holds neither a request nor SIGTERM', {
  timeout: HANGS_MS,
  skip: ON_LINUX,
}, async () => {
  await using folder = await temporaryFolder();
  using pipe = pipeAt(join(folder.path, 'pipe'));
  await using service = launch(['--port', '0'], pipe.writer);
  const { url, adminUrl } = await eventually(() => started(pipe.read()));
  await ask(url, 8_000);
  assert.equal((await fetch(`${adminUrl}/live`)).status, 200);
  const traceId = await crash(url);
  const dropped = await droppedLines(adminUrl);
  assert.ok(dropped > 0);
  await eventually(() => DROPPED.exec(pipe.read()) ?? undefined);
  assertAccounted(pipe.read(), 8_000, dropped, traceId);
  while ((await droppedLines(adminUrl)) === dropped) await ask(url, 1_000);
  service.child.kill('SIGTERM');
  assert.equal(await service.exited, 0);
});
