import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onCore, readProc, SERVER_CORE, TICK_MICROSECONDS } from './cores.ts';
import { programOf, type Server, type Surroundings } from './servers.ts';

/** Milliseconds. Longer than any start on a slow machine. */
const PATIENCE_MS = 30_000;

export interface Running {
  readonly port: number;
  readonly pid: number;
  /** Milliseconds from the start of the process to the first byte of its first answer. */
  readonly startMilliseconds: number;
  stop(): Promise<void>;
}

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts a server on a core and waits until it answers. What it prints goes into a file. */
export async function startServer(
  server: Server,
  surroundings: Omit<Surroundings, 'port'>,
  { core = SERVER_CORE, token = '' }: { readonly core?: number | undefined; readonly token?: string } = {},
): Promise<Running> {
  const program = programOf(server);
  if (program === undefined) throw new Error(`Cannot start ${server.name}: ${server.runtime} is not here`);
  const told = { ...surroundings, port: await freePort() };
  const { profile } = told;
  const flags =
    profile === undefined || server.runtime !== 'node' ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const [command, ...words] = onCore(core, [program, ...flags, ...server.arguments(told)]);
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
  const answered = await firstAnswer(child, told.port, token);
  if (!answered) {
    child.kill('SIGKILL');
    const printed = readFileSync(output, 'utf8');
    rmSync(output);
    throw new Error(`Cannot start ${server.name}: it printed\n${printed}`);
  }
  const { pid = 0 } = child;
  const startMilliseconds = performance.now() - began;
  return {
    port: told.port,
    pid,
    startMilliseconds,
    stop: () => stop(child).finally(() => rmSync(output, { force: true })),
  };
}

/** Asks for one todo every millisecond until something comes back; false when the process has ended instead. */
async function firstAnswer(child: ChildProcess, port: number, token: string): Promise<boolean> {
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  child.once('error', () => {
    ended = true;
  });
  const deadline = performance.now() + PATIENCE_MS;
  while (!ended && performance.now() < deadline) {
    if (await answers(port, token)) return true;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return false;
}

function answers(port: number, token: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => {
      resolve(true);
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.write(
      `GET /todos/1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
    );
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const impatient = setTimeout(() => child.kill('SIGKILL'), 10_000);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(impatient);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('Cannot find a free port');
  return address.port;
}

/** Microseconds of CPU that all threads of a process have used since its start; undefined without `/proc`. */
export function cpuMicroseconds(pid: number): number | undefined {
  const stat = readProc(`${pid}/stat`);
  if (stat === undefined) return undefined;
  // The command's name comes second and may hold blanks: fields 14 and 15 are counted from its bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MICROSECONDS;
}

/**
 * Microseconds of CPU that the threads which a process has now have used, much finer than `cpuMicroseconds`. Wrong
 * when a thread ends between two looks.
 *
 * @throws {Error} without `/proc`.
 */
export function threadMicroseconds(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  const nanoseconds = readdirSync(tasks).map(
    (id) => readFileSync(join(tasks, id, 'schedstat'), 'utf8').split(' ')[0],
  );
  return nanoseconds.reduce((sum, used) => sum + Number(used) / 1_000, 0);
}

/** Megabytes of memory of a process, its share of shared pages counted (PSS); undefined without `/proc`. */
export function memoryMegabytes(pid: number): number | undefined {
  const kilobytes = /^Pss:\s+(\d+) kB/m.exec(readProc(`${pid}/smaps_rollup`) ?? '')?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}
