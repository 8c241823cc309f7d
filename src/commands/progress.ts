import type { BackupProgress } from '../storage/maintenance.ts';
import type { Counts } from '../storage/transfer/contents.ts';

/** Milliseconds between two lines, and before the first. */
const INTERVAL_MS = 2_000;

/** Milliseconds between two calls of `touch` while the reader takes nothing. */
const TOUCH_INTERVAL_MS = 10_000;

/** Milliseconds without a reader until the warning. */
const STALLED_MS = 60_000;

/** Prints on standard error, where that is a terminal, how many todos were done in how many seconds. */
export function terminalProgress(done: string): (todos: number) => void {
  const began = performance.now();
  let due = began + INTERVAL_MS;
  return (todos) => {
    const now = performance.now();
    if (!process.stderr.isTTY || now < due) return;
    due = now + INTERVAL_MS;
    process.stderr.write(`${done} ${todos} todos in ${Math.round((now - began) / 1_000)} s\n`);
  };
}

/** Prints the progress of a backup every two seconds, and that it is checked. A quicker one prints its result alone. */
export function slowProgress(
  print: (line: string) => void = (line) => process.stderr.write(line),
  now: () => number = () => performance.now(),
): (progress: BackupProgress) => void {
  const began = now();
  let due = began + INTERVAL_MS;
  return (progress) => {
    if (now() < (progress === 'checking' ? began + INTERVAL_MS : due)) return;
    due = now() + INTERVAL_MS;
    print(
      progress === 'checking'
        ? 'Checking the copy\n'
        : `Copied ${megabytes(progress.copied)} of ${megabytes(progress.total)} MB\n`,
    );
  };
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1_000_000);
}

/** Waits for the reader. Calls `touch`, which may end the wait, again and again, and `warn` once, after a minute. */
export function forReader(
  touch: () => Promise<void>,
  warn: () => void,
  { touchMs = TOUCH_INTERVAL_MS, stalledMs = STALLED_MS } = {},
): (written: Promise<unknown>) => Promise<void> {
  let warned = false;
  return async (written) => {
    const began = performance.now();
    let touching: Promise<void> = Promise.resolve();
    const { promise: lost, reject } = Promise.withResolvers<never>();
    const timer = setInterval(() => {
      touching = touching.then(touch);
      touching.catch(reject);
      if (warned || performance.now() - began < stalledMs) return;
      warned = true;
      warn();
    }, touchMs);
    try {
      await Promise.race([written, lost]);
      await touching;
    } finally {
      clearInterval(timer);
    }
  };
}

export function totals({ todos, categories, keys }: Counts, highestId: number): string {
  return `todos ${todos}, categories ${categories}, keys of creates ${keys}, highest id given out ${highestId}`;
}

/** Prints the rows of a copy that an import refuses (`rowFaults`) on standard error. */
export function printRefused(faults: readonly string[] = []): void {
  if (faults.length === 0) return;
  const lines = faults.map((fault) => `  ${fault}\n`).join('');
  process.stderr.write(`The copy is whole, but an import would refuse these rows:\n${lines}`);
}
