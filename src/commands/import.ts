import { createReadStream } from 'node:fs';
import { ADAPTERS, nameOf } from '../adapters.ts';
import { messageOf } from '../files.ts';
import type { Database } from '../store/database.ts';
import { isId, MAX_ID } from '../store/todo.ts';
import type { Imported, ImportTarget } from '../store/transfer/contents.ts';
import { NotAnExport, readExport } from '../store/transfer/read.ts';
import { CommandFailed, printCannot, WrongUsage } from './command.ts';
import { DATABASE_HELP, onDatabase, tellLogMoved } from './database.ts';
import { endBySignal } from './ending.ts';
import { print } from './print.ts';
import { terminalProgress, totals } from './progress.ts';

const HELP = `Usage: todo-service import FILE|- [flags]

Reads an export, from FILE or from standard input, into an empty database: one without todos, keys and ids ever given
out, and without categories but "Work" and "Life" of a first start. Makes and migrates the database if needed. Keeps
ids, categories, "done" and keys. Imports everything in one transaction, or nothing. No service may have the SQLite file
open. Instances on PostgreSQL may run: their writes wait, and get 503 after 1.2 s.

With --only, puts single todos back with their ids, beside the running service. The whole FILE is read before anything
is changed.

  --only 17,18|deleted                   these todos, or all that FILE has and the database has not
${DATABASE_HELP}

Exit codes: 0 done, 1 --only: a todo is there, is not in FILE, or its category is missing, 2 wrong usage, 65 FILE is not
what export wrote, 66 FILE cannot be read, 69 the database cannot be used or is not empty, 75 a process serves the
SQLite file, 78 faults in the configuration, 130 or 143 ended by a signal. Unless it is 0, or a line
says that nobody knows, no row was changed.

Examples:
  todo-service import /backup/todos-2026-11-21.jsonl --database postgres://todo@db.example/todos
  todo-service import --only 17,18 /backup/todos-2026-11-21.jsonl
  todo-service import --only deleted /backup/todos-2026-11-21.jsonl
`;

const BAD_DATA = 65;
const NO_INPUT = 66;

/** `todo-service import FILE|-`. */
export const importAll = onDatabase(
  { action: 'import', operand: 'FILE', flags: { only: { type: 'string' } }, help: HELP },
  async (database, { FILE: file, only: wanted }) => {
    const only = wanted === undefined ? undefined : idsOf(wanted);
    if (wanted !== undefined && only === undefined) {
      const sentence = `--only must be ids from 1 to ${MAX_ID} with commas between, or "deleted"`;
      throw new WrongUsage(`${sentence}, received ${JSON.stringify(wanted.slice(0, 100))}`);
    }
    return importInto(database, file, only);
  },
);

/** @param only The ids of todos that are put back, or all that the database has not; undefined for the whole file. */
async function importInto(
  database: Database,
  file: string,
  only: ReadonlySet<number> | 'deleted' | undefined,
): Promise<number> {
  let target: ImportTarget | undefined;
  let committing = false;
  const takeBack = (signal: string): void => {
    void target?.[Symbol.asyncDispose]();
    printCannot('import', `it was ended by ${signal}, and nothing was changed`, 1);
  };
  endBySignal(takeBack, () => committing);
  const { openImport, openRestore } = await ADAPTERS[database.engine].transfer();
  await using opened = await (only === undefined
    ? openImport(database.address, tellLogMoved)
    : openRestore(database.address, only === 'deleted'));
  target = opened;
  const missing = new Set(only === 'deleted' ? [] : only);
  const isWanted = ({ id }: { readonly id: number }) => typeof only !== 'object' || missing.delete(id);
  const progress = terminalProgress('Imported');
  let read = 0;
  const contents = await readExport(bytesOf(file), async (rows) => {
    await opened.add({ ...rows, todos: rows.todos.filter(isWanted) });
    read += rows.todos.length;
    if (only === undefined) progress(read);
  }).catch((error) => {
    throw error instanceof NotAnExport ? notRead(file, error, BAD_DATA) : error;
  });
  if (missing.size > 0) {
    const reason = `${todosOf([...missing].slice(0, 10))}: not in the export`;
    return printCannot('import', reason, 1);
  }
  committing = true;
  const imported = await opened.commit(contents);
  if (!('made' in imported)) return printCannot('import', refusalOf(imported), 1);
  const name = await nameOf(database);
  print(
    only === undefined
      ? `Imported into ${name}: ${totals(contents, contents.highestId)}\n`
      : `Put back into ${name}: todos ${imported.made}\n`,
  );
  return 0;
}

function refusalOf(imported: Exclude<Imported, { made: number }>): string {
  if ('existing' in imported) return `${todosOf(imported.existing)}: in the database already`;
  const orphans = imported.orphans.map(({ id, categoryId }) => `${id} (category ${categoryId})`);
  return `todo ${orphans.join(', ')}: the database has no such category`;
}

function todosOf(ids: readonly number[]): string {
  return `todo ${ids.join(', ')}`;
}

/** What `--only` names; undefined when that is nothing. */
function idsOf(text: string): ReadonlySet<number> | 'deleted' | undefined {
  if (text === 'deleted') return text;
  const ids = text.split(',').map(Number);
  return /^[1-9]\d*(?:,[1-9]\d*)*$/.test(text) && ids.every(isId) ? new Set(ids) : undefined;
}

function notRead(file: string, error: unknown, exitCode: number): CommandFailed {
  const name = file === '-' ? 'standard input' : `"${file}"`;
  return new CommandFailed(`${name}: ${messageOf(error)}`, exitCode, { cause: error });
}

async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* file === '-' ? process.stdin : createReadStream(file);
  } catch (error) {
    throw notRead(file, error, NO_INPUT);
  }
}
