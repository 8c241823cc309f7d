import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { type Finished, type Serving, untilServing } from '../support/start.ts';

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

/** Starts a program and waits until it has printed its URL. */
export function serve(
  file: string,
  args: readonly string[],
  { cwd, env, isParent = false }: Surroundings,
): Promise<Serving> {
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  return untilServing(child, (signal) => {
    if (!isParent) child.kill(signal);
    else for (const pid of childrenOf(child.pid)) process.kill(pid, signal);
  });
}

/** The ids of the children of a process that is alive, else none. Linux. */
function childrenOf(pid = 0): readonly number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number);
}
