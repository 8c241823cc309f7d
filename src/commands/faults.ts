import { NotUsable } from '../files.ts';
import { meant } from '../nearest.ts';
import { unknownVariables } from '../read-settings.ts';
import { StoreNotOpened } from '../store/store.ts';

/**
 * Prints every fault of a configuration, a line each. The result is the exit code.
 *
 * @param action For people, after "Cannot".
 */
export function printFaults(action: string, faults: readonly string[]): 78 {
  const lines = faults.map((fault) => `  ${fault}\n`).join('');
  process.stderr.write(`Cannot ${action}, the configuration has faults:\n${lines}`);
  return 78;
}

/** Prints the variables that nothing reads, a line each: a misspelled one may be the cause of a fault. */
export function printUnknownVariables(env: NodeJS.ProcessEnv): void {
  for (const { name, nearest } of unknownVariables(env)) {
    process.stderr.write(`Nothing reads the variable ${JSON.stringify(name)}${meant(nearest)}.\n`);
  }
}

/**
 * Prints that a database or a key file cannot be opened. The result is the exit code. Any other error is thrown again.
 *
 * @param action For people, after "Cannot".
 */
export function printNotOpened(action: string, error: unknown): number {
  if (error instanceof StoreNotOpened)
    return printCannot(action, error.message, error.reason === 'owned' ? 75 : 69);
  if (error instanceof NotUsable) return printCannot(action, error.message, 78);
  throw error;
}

/** Prints why an action cannot be done. The result is the exit code that was given. */
export function printCannot(action: string, reason: string, exitCode: number): number {
  process.stderr.write(`Cannot ${action}: ${reason}\n`);
  return exitCode;
}
