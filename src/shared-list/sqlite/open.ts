import { DatabaseSync } from 'node:sqlite';
import { StoreNotOpened, type TodoStore } from '../store.ts';
import { makeDurable } from './durability.ts';
import { privateFile } from './file.ts';
import { own } from './owner.ts';
import { libraryFault, libraryVersion, migrate } from './schema.ts';
import { SqliteTodoStore } from './store.ts';

/**
 * Milliseconds to wait for another program's write (the `sqlite3` shell) before giving up. Below the 2.5 s
 * within which a client is told that the database is not available.
 */
const BUSY_TIMEOUT = 2_000;

export interface SqliteOptions {
  /** Milliseconds to wait for another process that serves the same file, 10 000 by default (contract D6). */
  readonly patience?: number;
}

/**
 * Opens the todo list in the SQLite file at `path`, and makes file and folder when they are missing (0600,
 * 0700; what exists keeps its mode). This process is its only server until the store is disposed.
 *
 * @throws {StoreNotOpened} with one line for people.
 */
export async function openSqliteStore(path: string, options: SqliteOptions = {}): Promise<TodoStore> {
  if (path === '' || path === ':memory:') throw unusable(path, 'it must be a file');
  using parts = new DisposableStack();
  try {
    const file = privateFile(path);
    parts.use(await own(file, options.patience ?? 10_000));
    const database = parts.use(new DatabaseSync(file, { timeout: BUSY_TIMEOUT }));
    const fault = libraryFault(libraryVersion(database)) ?? migrate(database) ?? makeDurable(database);
    if (fault !== undefined) throw unusable(path, fault);
    return new SqliteTodoStore(database, parts.move());
  } catch (error) {
    throw error instanceof StoreNotOpened ? error : unusable(path, reason(error), error);
  }
}

function unusable(path: string, fault: string, cause?: unknown): StoreNotOpened {
  return new StoreNotOpened('unusable', `Cannot open the database "${path}": ${fault}`, { cause });
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
