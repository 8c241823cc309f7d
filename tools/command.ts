import { spawnSync } from 'node:child_process';

/**
 * Runs a command, whose output is shown.
 *
 * @throws Error when it cannot be run or fails.
 */
export function run(file: string, ...args: readonly string[]): void {
  const { status, error } = spawnSync(file, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`Failed with exit code ${status}: ${file} ${args.join(' ')}`);
}

/** Ends a tool with one line; by default because this machine lacks something, exit code 69. */
export function giveUp(line: string, exitCode = 69): never {
  process.stderr.write(`${line}\n`);
  process.exit(exitCode);
}

/** What a command writes to standard output; undefined when it cannot be run or fails. */
export function outputOf(file: string, ...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return status === 0 ? stdout.trim() : undefined;
}
