import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./sqlite-process.ts', import.meta.url));

export interface Starter extends AsyncDisposable {
  readonly process: ChildProcess;
  /** What the process says: `open`, or why it does not serve. */
  readonly said: Promise<{ readonly outcome: string; readonly message?: string }>;
}

/** A process that tries to serve the file at `path`, waiting `patienceMs`; killed when disposed. */
export function start(path: string, patienceMs: number): Starter {
  const child = spawn(process.execPath, [SCRIPT, path, String(patienceMs)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  return {
    process: child,
    // One that ends without a word has said its exit code.
    said: Promise.race([once(child.stdout, 'data'), once(child, 'close')]).then(([line]) =>
      JSON.parse(String(line)),
    ),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
