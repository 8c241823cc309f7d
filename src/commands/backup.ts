import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { partialOf } from '../files.ts';
import { removeDatabase } from '../store/sqlite/file.ts';
import { BackupFailed, backupSqlite } from '../store/sqlite/operator.ts';
import { readExport } from '../store/transfer/read.ts';
import { CommandFailed, printCannot } from './command.ts';
import { DATABASE_HELP, onDatabase } from './database.ts';
import { endByItself, endBySignal } from './ending.ts';
import { writeExport } from './export.ts';
import { print } from './print.ts';
import { slowProgress, totals } from './progress.ts';
import { tellUnfinished } from './unfinished.ts';

const HELP = `Usage: todo-service backup FILE [flags]

Copies the database, as it is at one moment, to FILE, which must not exist: of SQLite a database file, of PostgreSQL
an export. "todo-service restore" takes either. The service may be running, and goes on writing. FILE has mode 0600,
and is called FILE.<random>.partial until the copy is checked. After 2 s, standard error shows how far it is.

${DATABASE_HELP}

Exit codes: 0 FILE is complete and on disk, 1 no copy was made, 2 wrong usage, 65 the SQLite file is empty, damaged or
not of this service, 69 the database cannot be used, 78 faults in the configuration, 129, 130 or 143 ended by a
signal, no copy was made.

Examples:
  todo-service backup /backup/todos-$(date +%F).db
  todo-service backup copy.db --data-dir /var/lib/todo-service
  todo-service backup /backup/todos-$(date +%F).jsonl --database postgres://todo@db.example/todos
`;

export const backup = onDatabase(
  { action: 'back up', operand: 'FILE', help: HELP },
  async ({ engine, address }, { FILE: file }) => {
    const partial = partialOf(file);
    tellUnfinished(file);
    endBySignal(() => removeDatabase(partial));
    try {
      print(
        `${await (engine === 'sqlite' ? copySqlite : exportPostgres)(address, file, partial)}, checked\n`,
      );
      return 0;
    } catch (error) {
      if (error instanceof CommandFailed) return printCannot('back up', error.message, 1);
      if (!(error instanceof BackupFailed)) throw error;
      return printCannot(`back up "${address}" to "${file}"`, error.message, 1);
    }
  },
);

async function copySqlite(address: string, file: string, partial: string): Promise<string> {
  const { path, bytes, todos } = await backupSqlite(address, file, slowProgress(), partial);
  endByItself();
  return `${path}: ${bytes} bytes, ${todos === 1 ? '1 todo' : `${todos} todos`}`;
}

async function exportPostgres(address: string, file: string, partial: string): Promise<string> {
  const { openExport } = await import('../store/postgres/transfer.ts');
  await using source = await openExport(address);
  await writeExport(source, file, partial, () => readExport(createReadStream(partial), async () => {}));
  return `${resolve(file)}: ${totals(source.counts, source.highestId)}`;
}
