import { KeysNotOpened } from '../auth/keys/not-opened.ts';
import { StoreNotOpened } from '../shared-list/store.ts';

/**
 * Says every fault of a configuration, a line each. The result is the exit code.
 *
 * @param action For people, after "Cannot".
 */
export function sayFaults(action: string, faults: readonly string[]): 78 {
  const lines = faults.map((fault) => `  ${fault}\n`).join('');
  process.stderr.write(`Cannot ${action}, the configuration has faults:\n${lines}`);
  return 78;
}

/**
 * Says that a database or a key file cannot be opened. The result is the exit code; undefined for any other error.
 *
 * @param action For people, after "Cannot".
 */
export function sayNotOpened(action: string, error: unknown): 69 | 75 | 78 | undefined {
  if (error instanceof StoreNotOpened) return sayCannot(action, error, error.reason === 'owned' ? 75 : 69);
  if (error instanceof KeysNotOpened) return sayCannot(action, error, 78);
  return undefined;
}

/** Says why an action cannot be done, in one line. The result is the exit code that was given. */
export function sayCannot<const ExitCode extends number>(
  action: string,
  { message }: Error,
  exitCode: ExitCode,
): ExitCode {
  process.stderr.write(`Cannot ${action}: ${message}\n`);
  return exitCode;
}
