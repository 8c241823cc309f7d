import { createReadStream } from 'node:fs';
import type { Database } from '../store/database.ts';
import { isId, MAX_ID } from '../store/todo.ts';
import type { ImportTarget, Restored, RestoreTarget } from '../store/transfer/contents.ts';
import { NotAnExport, readExport } from '../store/transfer/read.ts';
import { DATABASE_HELP, nameOf, onDatabase, tellLogMoved } from './database.ts';
import { endBySignal } from './ending.ts';
import { wrongUsage } from './flags.ts';
import { print, printCannot } from './print.ts';
import { terminalProgress, totals } from './progress.ts';

const HELP = `Usage: todo-service import FILE|- [flags]

Reads what "todo-service export" wrote, from FILE or from standard input, into an empty database: one without todos,
keys and ids that were given out, and without categories but "Work" and "Life" of a first start. It is made and migrated
where that is needed. Ids, categories, "done" and keys are as they were. One transaction makes all of it or nothing. A
service must not have the SQLite file open; instances on PostgreSQL may be up, and what they create waits.

With --only, FILE gives back single todos, with their ids, beside the running service. It is read to its end before
anything is changed.

  --only 17,18|deleted                   these todos, or all that FILE has and the database has not
${DATABASE_HELP}

Exit codes: 0 done, 1 --only: a todo is there, is not in FILE, or its category is missing, 2 wrong usage, 65 FILE is not
what export wrote, 66 FILE cannot be read, 69 the database cannot be used or is not empty, 75 a process serves the
SQLite file, 78 faults in the configuration, 130 or 143 ended by a signal. Unless it is 0, no row was changed.

Examples:
  todo-service import /backup/todos-2026-11-21.jsonl --database postgres://todo@db.example/todos
  todo-service import --only 17,18 /backup/todos-2026-11-21.jsonl
  todo-service import --only deleted /backup/todos-2026-11-21.jsonl
`;

const BAD_DATA = 65;
const NO_INPUT = 66;

/** What is imported cannot be read. */
class NotReadable extends Error {
  override readonly name = 'NotReadable';
}

/** `todo-service import FILE|-`. The result is the exit code. */
export async function importAll(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const only = { only: { type: 'string' } } as const;
  const line = { command: 'import', action: 'import', operand: 'FILE', flags: only, help: HELP } as const;
  return onDatabase(line, argv, env, async (database, { FILE: file, only: wanted }) => {
    const ids = wanted === undefined ? undefined : idsOf(wanted);
    if (wanted !== undefined && ids === undefined) {
      const sentence = `--only must be ids from 1 to ${MAX_ID} with commas between, or "deleted"`;
      return wrongUsage('import', `${sentence}, received ${JSON.stringify(wanted.slice(0, 100))}`);
    }
    try {
      if (ids === undefined) return await importInto(database, file);
      return await restoreInto(database, file, ids);
    } catch (error) {
      const name = file === '-' ? 'standard input' : `"${file}"`;
      if (error instanceof NotAnExport) return printCannot('import', `${name}: ${error.message}`, BAD_DATA);
      if (error instanceof NotReadable) return printCannot('import', `${name}: ${error.message}`, NO_INPUT);
      throw error;
    }
  });
}

async function importInto(database: Database, file: string): Promise<number> {
  let target: ImportTarget | undefined;
  let committing = false;
  const takeBack = (signal: string): void => {
    target?.abandon();
    printEnded(signal);
  };
  endBySignal(takeBack, () => committing);
  await using opened = await openTarget(database);
  target = opened;
  const progress = terminalProgress('Imported');
  let todos = 0;
  const contents = await readExport(bytesOf(file), async (rows) => {
    await opened.add(rows);
    todos += rows.todos.length;
    progress(todos);
  });
  committing = true;
  await opened.commit(contents);
  print(`Imported into ${await nameOf(database)}: ${totals(contents, contents.highestId)}\n`);
  return 0;
}

async function restoreInto(
  database: Database,
  file: string,
  ids: ReadonlySet<number> | 'deleted',
): Promise<number> {
  let committing = false;
  endBySignal(printEnded, () => committing);
  await using target = await openRestore(database);
  const found = new Set<number>();
  await readExport(bytesOf(file), async ({ todos }) => {
    const wanted = ids === 'deleted' ? todos : todos.filter(({ id }) => ids.has(id));
    if (ids !== 'deleted') for (const { id } of wanted) found.add(id);
    await target.stage(wanted);
  });
  if (ids !== 'deleted' && found.size < ids.size) {
    const missing = [...ids].filter((id) => !found.has(id));
    return printCannot('import', `${todosOf(missing.slice(0, 10))}: not in the export`, 1);
  }
  committing = true;
  const restored = await target.commit(ids === 'deleted');
  if (!('made' in restored)) return printCannot('import', refusalOf(restored), 1);
  print(`Put back into ${await nameOf(database)}: todos ${restored.made}\n`);
  return 0;
}

function refusalOf(restored: Exclude<Restored, { made: number }>): string {
  if ('existing' in restored) return `${todosOf(restored.existing)}: in the database already`;
  const orphans = restored.orphans.map(({ id, categoryId }) => `${id} (category ${categoryId})`);
  return `todo ${orphans.join(', ')}: the database has no such category`;
}

function todosOf(ids: readonly number[]): string {
  return `todo ${ids.join(', ')}`;
}

function printEnded(signal: string): void {
  printCannot('import', `it was ended by ${signal}, and nothing was changed`, 1);
}

/** What `--only` names; undefined when that is nothing. */
function idsOf(text: string): ReadonlySet<number> | 'deleted' | undefined {
  if (text === 'deleted') return text;
  const ids = text.split(',').map(Number);
  return /^[1-9]\d*(?:,[1-9]\d*)*$/.test(text) && ids.every(isId) ? new Set(ids) : undefined;
}

/** Imports the adapter of the configured engine alone. */
async function openTarget(database: Database): Promise<ImportTarget> {
  if (database.engine === 'sqlite') {
    const { openSqliteImport } = await import('../store/sqlite/import.ts');
    return openSqliteImport(database.path, tellLogMoved);
  }
  const { openPostgresImport } = await import('../store/postgres/import.ts');
  return openPostgresImport(database.connectionString);
}

async function openRestore(database: Database): Promise<RestoreTarget> {
  if (database.engine === 'sqlite') {
    const { openSqliteRestore } = await import('../store/sqlite/import.ts');
    return openSqliteRestore(database.path);
  }
  const { openPostgresRestore } = await import('../store/postgres/import.ts');
  return openPostgresRestore(database.connectionString);
}

async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* file === '-' ? process.stdin : createReadStream(file);
  } catch (error) {
    throw new NotReadable(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
