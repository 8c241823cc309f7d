import { createReadStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { messageOf } from '../lib/errors.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { ADAPTERS, nameOf } from '../server/engines.ts';
import type { DatabaseSettings } from '../storage/settings.ts';
import type { Contents, ImportTarget } from '../storage/transfer/contents.ts';
import { BackupRefused, readExport } from '../storage/transfer/read-export.ts';
import { type Command, printCannot } from './command.ts';
import { DATABASE_HELP, onDatabase, printLogMoved } from './on-database.ts';
import { print } from './print.ts';
import { terminalProgress, totals } from './progress.ts';
import { endByItself, endBySignal } from './signals.ts';

const HELP = `Usage: todo-service import FILE|- [flags]

Reads an export, from FILE or from standard input, into an empty database: one without todos, keys and ids ever given
out, and without categories but "Work" and "Life" of a first start. Makes and migrates the database if needed. Keeps
ids, categories, "done" and keys. Imports everything in one transaction, or nothing. No service may have the SQLite
file open. Instances on PostgreSQL may run: their writes wait, and get 503 after 1.2 s.

${DATABASE_HELP}

Exit codes: 0 done, 2 wrong usage, 65 FILE is no sound export, or the SQLite file is not of this service,
66 FILE cannot be read, 69 the database cannot be used or is not empty, 75 a process serves the SQLite file, 78 faults
in the configuration, 129, 130 or 143 ended by a signal. With any code but 0, no row was changed, unless a line says
that nobody knows.

Examples:
  todo-service import /backup/todos-2026-11-21.jsonl --database postgres://todo@db.example/todos
  todo-service export | TODO_DATABASE=postgres://todo@db.example/todos todo-service import -
`;

const importOnce = onDatabase(
  { action: 'import', operand: 'FILE', help: HELP },
  async (database, { FILE: file }) => {
    const contents = await importFile('import', database, file);
    print(`Imported into ${await nameOf(database)}: ${totals(contents, contents.highestId)}\n`);
    return 0;
  },
);

export const importAll: Command = async (name, argv, env) => {
  const code = await importOnce(name, argv, env);
  // A successful import has read it to its end.
  if (code !== 0 && argv.includes('-')) await readToEnd();
  return code;
};

/**
 * Imports a file into an empty database. A signal ends it.
 *
 * @param action For people, after "Cannot".
 * @param highestOf The highest id that shall count as given out, by that of the file. Its exception ends the import.
 */
export async function importFile(
  action: string,
  database: DatabaseSettings,
  file: string,
  highestOf = (highestId: number) => highestId,
): Promise<Contents> {
  let target: ImportTarget | undefined;
  endBySignal((signal) => {
    void target?.[Symbol.asyncDispose]();
    printCannot(action, `it was ended by ${signal}, and nothing was changed`, 'failed');
  });
  const { openImport } = await ADAPTERS[database.engine].transfer();
  await using opened = await openImport(database.address, printLogMoved);
  target = opened;
  const progress = terminalProgress('Imported');
  let read = 0;
  const inFile = await readBackup(file, () =>
    readExport(bytesOf(file), async (rows) => {
      await opened.add(rows);
      read += rows.todos.length;
      progress(read);
    }),
  );
  const contents = { ...inFile, highestId: highestOf(inFile.highestId) };
  endByItself();
  return { ...contents, keys: await opened.commit(contents) };
}

/** Reads a given file. Its faults have exit codes of their own: it cannot be read, or is no sound backup. */
export async function readBackup<T>(file: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof BackupRefused)) throw error;
    const name = file === '-' ? 'standard input' : `"${file}"`;
    throw new OperatorError(error.reason, `${name}: ${error.message}`, { cause: error });
  }
}

async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* file === '-' ? process.stdin.iterator({ destroyOnReturn: false }) : createReadStream(file);
  } catch (error) {
    throw new BackupRefused('no-input', messageOf(error), { cause: error });
  }
}

/**
 * Reads standard input to its end and throws it away: its writer, such as `kubectl exec --stdin`, may wait for that
 * before it prints the message. At a terminal, a person would have to end it.
 */
async function readToEnd(): Promise<void> {
  if (process.stdin.isTTY) return;
  endBySignal(() => {});
  await finished(process.stdin.resume()).catch(() => {});
}
