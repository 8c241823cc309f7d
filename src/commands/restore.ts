import { OperatorError } from '../lib/operator-error.ts';
import { shellWord } from '../lib/quote.ts';
import { ADAPTERS, nameOf } from '../server/engines.ts';
import type { DatabaseSettings } from '../storage/settings.ts';
import type { Restored } from '../storage/sqlite/restore.ts';
import { printCannot, readNumber, WrongUsage } from './command.ts';
import { importFile, readBackup } from './import.ts';
import { DATABASE_HELP, onDatabase, printLogMoved } from './on-database.ts';
import { print } from './print.ts';
import { printRefused, slowProgress, totals } from './progress.ts';
import { endByItself, endBySignal } from './signals.ts';
import { printUnfinished } from './unfinished.ts';

const HELP = `Usage: todo-service restore BACKUP [flags]

Replaces the database by BACKUP, a file of "todo-service backup" or "todo-service export", recognized by its content.
BACKUP is copied and checked first. No service may have the SQLite file open. The old database is kept beside it, as
todos.db.<time>; a line says where. PostgreSQL takes an export, into an empty database.

  --next-id N                             the next todo gets this id. Else ids that were given out after the backup
                                          are given out again
${DATABASE_HELP}

Exit codes: 0 done, 2 wrong usage, 65 BACKUP is damaged, newer or not of this service, or the SQLite file is another
program's, 66 BACKUP cannot be read, 69 the database cannot be used, or is PostgreSQL and not empty, 75 a process
serves the SQLite file, 78 faults in the configuration, 129, 130 or 143 ended by a signal. With any code but 0, the
database is as it was, unless a line says that nobody knows.

Examples:
  todo-service restore /backup/todos-2026-11-21.db
  todo-service restore /backup/todos-2026-11-21.db --next-id 5000
  todo-service restore /backup/todos-2026-11-21.jsonl --database postgres://todo@db.example/todos_restored
`;

export const restore = onDatabase(
  { action: 'restore', operand: 'BACKUP', flags: { 'next-id': { type: 'string' } }, help: HELP },
  async (database, { BACKUP: file, 'next-id': wanted }) => {
    const nextId = wanted === undefined ? undefined : readNumber('--next-id', wanted);
    const highestOf = (highestId: number): number => {
      if (nextId === undefined) return highestId;
      if (nextId > highestId) return nextId - 1;
      throw new WrongUsage(
        `--next-id must be above ${highestId}, the highest id in the backup, received ${nextId}`,
      );
    };
    const restoring = database.engine === 'sqlite' ? restoreSqlite : restorePostgres;
    const { counts, refused, highestId, old } = await restoring(database, file, highestOf);
    printRefused(refused);
    const known = nextId === undefined ? old?.highestId : nextId - 1;
    const ids =
      known !== undefined && known <= highestId
        ? `The next id is ${highestId + 1}`
        : `Ids from ${highestId + 1} on are given out again: "--next-id ${known === undefined ? 'N' : known + 1}" prevents it`;
    const kept = old === undefined ? '' : `The old database is ${old.path}. `;
    print(`Restored into ${await nameOf(database)}: ${totals(counts, highestId)}\n${kept}${ids}\n`);
    return 0;
  },
);

type Restoring = (
  database: DatabaseSettings,
  file: string,
  highestOf: (highestId: number) => number,
) => Promise<Restored>;

const restoreSqlite: Restoring = async ({ address }, file, highestOf) => {
  const { Restore } = await ADAPTERS.sqlite.restore();
  const restoring = new Restore();
  endBySignal((signal) => {
    restoring.takeBack();
    printCannot('restore', `it was ended by ${signal}, and nothing was changed`, 'failed');
  });
  printUnfinished(address);
  const options = { highestOf, onProgress: slowProgress(), onDeciding: endByItself, logEvent: printLogMoved };
  return readBackup(file, () => restoring.run(address, file, options));
};

const restorePostgres: Restoring = async (database, file, highestOf) => {
  const { kindOf } = await ADAPTERS.sqlite.restore();
  if ((await readBackup(file, () => kindOf(file))) === 'database') {
    const call = `todo-service export FILE --database ${shellWord(`sqlite:${file}`)}`;
    throw new OperatorError('bad-data', `"${file}": it is a SQLite database: ${call}`);
  }
  const contents = await importFile('restore', database, file, highestOf);
  return { counts: contents, highestId: contents.highestId };
};
