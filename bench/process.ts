import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../test/folder.ts';
import type { Prepared } from './kit.ts';
import { onCore } from './machine.ts';
import { programOf, type Server } from './servers.ts';

/** Milliseconds. Longer than any start on a slow machine. */
const PATIENCE_MS = 120_000;

/** A server under way. Owned: `await using`. */
export interface Running extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  /** Path of its SQLite file, or a connection string. */
  readonly database: string;
  /** Milliseconds from the start of the process to the first byte of its first answer. */
  readonly startMs: number;
}

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/**
 * Starts a server on a core and waits until it answers. What it prints goes into a file.
 *
 * @param profile Folder for CPU profiles of a server on Node.js, which slow it down.
 * @throws Error with what it printed, when it ends instead or stays silent.
 */
export async function startServer(
  server: Server,
  { tell, editor }: Prepared,
  core: number | undefined,
  profile?: string,
): Promise<Running> {
  const told = { ...(await tell()), port: await freePort() };
  const profiling = profile !== undefined && server.runtime === 'node';
  const flags = profiling ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [];
  const [command, ...words] = onCore(core, [programOf(server) ?? '', ...flags, ...server.words]);
  const output = join(tmpdir(), `todo-service-bench-${process.pid}-${told.port}.log`);
  const descriptor = openSync(output, 'w');
  const began = performance.now();
  const child = spawn(command, words, {
    stdio: ['ignore', descriptor, descriptor],
    env: { PATH: process.env.PATH, ...server.environment(told) },
  });
  closeSync(descriptor);
  children.add(child);
  child.once('exit', () => children.delete(child));
  if (!(await firstAnswer(child, told.port, editor))) {
    child.kill('SIGKILL');
    const printed = readFileSync(output, 'utf8');
    rmSync(output);
    throw new Error(`Cannot start ${server.name}: it printed\n${printed}`);
  }
  return {
    port: told.port,
    pid: child.pid ?? 0,
    database: told.database,
    startMs: performance.now() - began,
    [Symbol.asyncDispose]: () => stop(child).finally(() => rmSync(output, { force: true })),
  };
}

/** Asks for one todo every millisecond until something comes back; false when the process has ended instead. */
async function firstAnswer(child: ChildProcess, port: number, token: string): Promise<boolean> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  child.once('exit', end).once('error', end);
  const deadline = performance.now() + PATIENCE_MS;
  while (!ended && performance.now() < deadline) {
    if (await answers(port, token)) return true;
    await pause(1);
  }
  return false;
}

function answers(port: number, token: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1');
  socket.once('data', () => {
    resolve(true);
    socket.destroy();
  });
  socket.once('error', () => resolve(false)).once('close', () => resolve(false));
  socket.write(
    `GET /todos/1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
  );
  return promise;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const impatient = setTimeout(() => child.kill('SIGKILL'), 10_000);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(impatient);
}
