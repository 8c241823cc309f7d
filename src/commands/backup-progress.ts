import type { BackupProgress } from '../store/sqlite/backup.ts';

/** How long a backup is silent at first, and between two lines. */
const INTERVAL_MS = 2_000;

/**
 * Says how far a backup is, a line every two seconds, and that the copy is being checked. Says nothing of one that is
 * quicker: a script sees its result alone.
 *
 * @param now Milliseconds of a clock.
 */
export function slowProgress(
  print: (line: string) => void,
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
