import { type DatabaseFlags, readDatabaseConfig } from '../config.ts';
import type { DatabaseSettings } from '../shared-list/database.ts';
import type { Operator } from '../shared-list/operator.ts';
import { OutcomeUnknown, StoreNotOpened, StoreUnavailable } from '../shared-list/store.ts';

/** The flags of every command that works on the database. */
export const DATABASE_FLAGS = ['database', 'data-dir'] as const;

/** What `--help` says of them. */
export const DATABASE_HELP = `\
  --database sqlite:PATH|postgres://…     TODO_DATABASE     default sqlite:<data dir>/todos.db
  --data-dir DIR                          TODO_DATA_DIR     default data
  --help

A flag beats its variable. A password belongs into the variable: others can read a command line.`;

/**
 * Finds the database that flags and variables name and lets `work` use it. What an operator can mend is one
 * line and the exit code: 69 the database cannot be used, 75 a process serves it, 78 faults in the
 * configuration. Otherwise the exit code is that of `work`.
 *
 * @param action For people, after "Cannot".
 */
export async function onDatabase(
  action: string,
  flags: DatabaseFlags,
  env: NodeJS.ProcessEnv,
  work: (database: DatabaseSettings) => Promise<number>,
): Promise<number> {
  const read = readDatabaseConfig(flags, env);
  if ('faults' in read) {
    process.stderr.write(
      `Cannot ${action}, the configuration has faults:\n${read.faults.map((line) => `  ${line}\n`).join('')}`,
    );
    return 78;
  }
  try {
    return await work(read.database);
  } catch (error) {
    if (error instanceof StoreNotOpened) {
      process.stderr.write(`Cannot ${action}: ${error.message}\n`);
      return error.reason === 'owned' ? 75 : 69;
    }
    if (error instanceof StoreUnavailable || error instanceof OutcomeUnknown) {
      process.stderr.write(`Cannot ${action}: ${error.message}\n`);
      return 69;
    }
    throw error;
  }
}

/** Imports the adapter of the configured engine alone. */
export async function openOperator(database: DatabaseSettings): Promise<Operator> {
  if (database.engine === 'sqlite') {
    const { openSqliteOperator } = await import('../shared-list/sqlite/operator.ts');
    return openSqliteOperator(database.path);
  }
  const { openPostgresOperator } = await import('../shared-list/postgres/operator.ts');
  return openPostgresOperator(database.connectionString);
}

/** For people, without user and password. */
export async function nameOf(database: DatabaseSettings): Promise<string> {
  if (database.engine === 'sqlite') return `sqlite:${database.path}`;
  const { addressOf } = await import('../shared-list/postgres/address.ts');
  return addressOf(database.connectionString)?.name ?? 'postgres';
}
