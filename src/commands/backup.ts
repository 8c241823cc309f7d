import { partialOf } from '../files.ts';
import type { BackupProgress } from '../store/sqlite/operator.ts';
import { printCannot } from './command.ts';
import { DATABASE_HELP, onDatabase } from './database.ts';
import { endBySignal } from './ending.ts';
import { print } from './print.ts';

const HELP = `Usage: todo-service backup FILE [flags]

Copies the SQLite database, as it is at one moment, to FILE, which must not exist. The service may be running, and goes
on writing. FILE is called FILE.<process id>.partial until the copy is checked (integrity_check, foreign_key_check).
After 2 s, standard error shows how far it is. For PostgreSQL this command prints the call of pg_dump.

${DATABASE_HELP}

Exit codes: 0 FILE is complete and on disk, 1 no copy was made, 2 wrong usage, 69 the database cannot be used,
78 faults in the configuration, or the database is PostgreSQL, 130 or 143 ended by a signal, no copy was made.

Examples:
  todo-service backup /backup/todos-$(date +%F).db
  todo-service backup copy.db --data-dir /var/lib/todo-service
`;

/** `todo-service backup FILE`. */
export const backup = onDatabase(
  { action: 'back up', operand: 'FILE', help: HELP },
  async (database, { FILE: file }) => {
    if (database.engine === 'postgresql') {
      const { dumpCommand } = await import('../store/postgres/address.ts');
      const command =
        dumpCommand(database.address, file) ??
        'pg_dump (the connection string of the database cannot be read)';
      const reason = `the database is PostgreSQL, which has a tool for it:\n  ${command}`;
      return printCannot('back up', reason, 78);
    }
    const { BackupFailed, backupSqlite } = await import('../store/sqlite/operator.ts');
    const { removeDatabase } = await import('../store/sqlite/file.ts');
    endBySignal(() => removeDatabase(partialOf(file)));
    const onProgress = slowProgress((line) => process.stderr.write(line));
    try {
      const { path, bytes, todos } = await backupSqlite(database.address, file, onProgress);
      print(`${path}: ${bytes} bytes, ${todos === 1 ? '1 todo' : `${todos} todos`}, checked\n`);
      return 0;
    } catch (error) {
      if (!(error instanceof BackupFailed)) throw error;
      process.stderr.write(`${error.message}\n`);
      return 1;
    }
  },
);

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
