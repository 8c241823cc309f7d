import { createReadStream, existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { partialOf } from '../lib/durable-files.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { ADAPTERS } from '../server/engines.ts';
import type { DatabaseSettings } from '../storage/settings.ts';
import { readExport } from '../storage/transfer/read-export.ts';
import { copyOf, namesFolder, openFolder, removeOldest } from './backup-folder.ts';
import { readNumber } from './command.ts';
import { writeExport } from './export.ts';
import { DATABASE_HELP, onDatabase } from './on-database.ts';
import { print } from './print.ts';
import { printRefused, slowProgress, totals } from './progress.ts';
import { endByItself, endBySignal } from './signals.ts';
import { printUnfinished } from './unfinished.ts';

const HELP = `Usage: todo-service backup FILE [flags]
       todo-service backup FOLDER [--keep N] [flags]

Copies the database as it is at one moment: SQLite into a database file, PostgreSQL into an export. "todo-service
restore" takes either. The service may be running, and goes on writing. The copy has mode 0600, and is called
<name>.<random>.partial until it is checked. After 2 s, standard error shows how far it is. FILE must not exist.

FOLDER is a folder that exists, or a path that ends with "/" or comes with --keep. A missing folder is made (0700).
The folder gets one more copy, named todos-20261121T093000Z.db, from PostgreSQL todos-20261121T093000Z.jsonl (UTC).
Each run also removes partial files of such a name that were last written more than a day ago. A folder is for one
database: copies of another one have the same names, and are counted and removed too.

  --keep N                                1 or more: once the copy is checked, the oldest copies with such a name and
                                          ending are removed, so that N are left. By default none is removed
${DATABASE_HELP}

Exit codes: 0 the copy is complete and on disk, 1 with --keep it is, and older ones stay: one of them is newer than
now, as after a clock that went back, or cannot be removed; 2 wrong usage, 65 the SQLite file is empty, damaged or not
of this service, or PostgreSQL has rows that import would refuse, 69 the database cannot be used, 74 the copy cannot
be written, 78 faults in the configuration, 129, 130 or 143 ended by a signal. With any code but 0 and 1, no copy was
made.

Examples:
  todo-service backup /backup/todos-$(date +%F).db
  todo-service backup /backup --keep 14
  todo-service backup copy.db --data-dir /var/lib/todo-service
  todo-service backup /backup/todos-$(date +%F).jsonl --database postgres://todo@db.example/todos
`;

/** Milliseconds: the time in the name of a copy has whole seconds. */
const SECOND_MS = 1_000;

// The copy is made, checked and named, and only then older ones are removed: `test/commands/backup-folder.test.ts`.
export const backup = onDatabase(
  { action: 'back up', operand: 'FILE', flags: { keep: { type: 'string' } }, help: HELP },
  async (database, { FILE: word, keep: wanted }) => {
    const keep = wanted === undefined ? undefined : readNumber('--keep', wanted);
    using parts = new DisposableStack();
    if (keep === undefined && !namesFolder(word)) {
      printUnfinished(word);
      print(await copyTo(word, database, parts));
      return 0;
    }
    const ending = database.engine === 'sqlite' ? 'db' : 'jsonl';
    const folder = parts.use(openFolder(word, ending));
    let file = '';
    let said: string | undefined;
    for (let at = Date.now(); said === undefined; at += SECOND_MS) {
      file = copyOf(at, folder.path, ending);
      said = await copyTo(file, database, parts).catch(async (error: unknown) => {
        if (!(error instanceof OperatorError) || !existsSync(file)) throw error;
        // The name is another run's.
        await sleep(SECOND_MS);
        return undefined;
      });
    }
    print(said);
    const own = database.engine === 'sqlite' ? database.address : undefined;
    const left = keep === undefined ? [] : removeOldest(file, keep, ending, own);
    for (const line of left) process.stderr.write(`${line}\n`);
    return left.length === 0 ? 0 : 1;
  },
);

/** @param parts Disposed of when a signal ends the command. */
async function copyTo(
  file: string,
  { engine, address }: DatabaseSettings,
  parts: DisposableStack,
): Promise<string> {
  const copy = engine === 'sqlite' ? copySqlite : exportPostgres;
  const said = await copy(address, file, partialOf(file), parts);
  return `${said}, checked\n`;
}

async function copySqlite(address: string, file: string, partial: string, parts: DisposableStack) {
  const sqlite = await ADAPTERS.sqlite.backup();
  endBySignal(() => {
    sqlite.remove(partial);
    parts.dispose();
  });
  const { path, bytes, todos, refused } = await sqlite.backup(address, file, slowProgress(), partial);
  endByItself();
  printRefused(refused);
  return `${path}: ${bytes} bytes, ${todos === 1 ? '1 todo' : `${todos} todos`}`;
}

async function exportPostgres(address: string, file: string, partial: string, parts: DisposableStack) {
  endBySignal(() => {
    rmSync(partial, { force: true });
    parts.dispose();
  });
  const { openExport } = await ADAPTERS.postgresql.transfer();
  await using source = await openExport(address);
  const check = () => readExport(createReadStream(partial), async () => {});
  await writeExport(source, file, partial, check);
  return `${resolve(file)}: ${totals(source.counts, source.highestId)}`;
}
