import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inspect, isDeepStrictEqual } from 'node:util';

/**
 * A case of docs/decisions/README.md: what a library makes of an input, for which code of ours is there. It fails when the
 * library does anything else.
 *
 * @param title The argument, as a sentence about the library.
 * @param today What `observe` finds as long as the argument holds.
 */
export function holds(title: string, observe: () => unknown, today: unknown): void {
  test(title, async () => {
    let now: unknown;
    try {
      now = await observe();
    } catch (error) {
      throw fallen(`it throws "${error}"`, today, error);
    }
    if (!isDeepStrictEqual(now, today)) throw fallen(inspect(now), today);
  });
}

function fallen(now: string, today: unknown, cause?: unknown): Error {
  const what = `The argument has fallen: ${now} in place of ${inspect(today)}.`;
  return new Error(
    `${what} If the library now does what is needed, decide anew: docs/decisions/README.md has the row`,
    {
      cause,
    },
  );
}

/** What a function throws, by name; undefined when it throws nothing. */
export function thrown(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return Error.isError(error) ? error.name : String(error);
  }
}

/** Runs a program whose output nobody reads. @returns its exit code, or the signal that ends it after 5 s. */
export async function endOf(code: string): Promise<unknown> {
  const cwd = fileURLToPath(new URL('.', import.meta.url));
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 5_000,
    killSignal: 'SIGKILL',
  });
  const [status, signal] = await once(child, 'exit');
  child.stdout.destroy();
  return status ?? signal;
}
