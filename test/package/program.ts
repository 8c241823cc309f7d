import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { leave } from '../clients.ts';
import type { Finished } from '../start.ts';

/** Milliseconds. Longer than any start on a slow machine; reached only when a program hangs. */
const PATIENCE_MS = 120_000;

/** Where and how a program runs. Nothing of the caller's environment reaches it but what is given here. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The program stays the parent of the one that serves, and hands on its exit code but no signal. */
  readonly isParent?: boolean;
}

/** Runs a program to its end. */
export async function run(
  file: string,
  args: readonly string[],
  { cwd, env }: Surroundings,
): Promise<Finished> {
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  return { code: child.exitCode, stdout, stderr };
}

/** A program that serves. Owned: `await using`. */
export interface Serving extends AsyncDisposable {
  /** For example `http://127.0.0.1:40123`, with the port that was printed. */
  readonly baseUrl: string;
  readonly pid: number;
  /** Both outputs, as far as they were written. */
  output(): string;
  /** Closes the connections of this process to it, sends the signal, and gives the exit code; null when the signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts a program and waits until it has printed its URL.
 *
 * @throws Error with everything the program wrote, when it ends or stays silent instead.
 */
export async function serve(
  file: string,
  args: readonly string[],
  { cwd, env, isParent = false }: Surroundings,
): Promise<Serving> {
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { promise: printed, resolve, reject } = Promise.withResolvers<string>();
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      const port = /http:\/\/(?:127\.0\.0\.1|0\.0\.0\.0):(\d+)\D/.exec(output)?.[1];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
  }
  const ended = once(child, 'close');
  ended.then(() => reject(new Error(`${file} ended before it printed its URL:\n${output}`)), reject);

  async function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    leave(await printed);
    const impatient = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    if (!isParent) child.kill(signal);
    else for (const pid of childrenOf(child.pid)) process.kill(pid, signal);
    await ended;
    clearTimeout(impatient);
    return child.exitCode;
  }

  const impatient = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  try {
    const baseUrl = await printed;
    return {
      baseUrl,
      pid: child.pid ?? 0,
      output: () => output,
      stop,
      [Symbol.asyncDispose]: async () => {
        await stop();
      },
    };
  } finally {
    clearTimeout(impatient);
  }
}

/** The ids of the children of a process that is alive, else none. Linux. */
function childrenOf(pid = 0): readonly number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number);
}
