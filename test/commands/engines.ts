import assert from 'node:assert/strict';
import { type Finished, runProgram } from '../start.ts';
import * as files from '../storage/new-files.ts';
import { PASSWORD, PostgresServer } from '../storage/postgres-server.ts';
import { SCHEMA_VERSION } from '../storage/todos.ts';

export const server = await PostgresServer.startForAll('fsync=on');

/** What the tests of commands want to know about an engine. A database is what `--database` takes. */
export interface Engine {
  /** Makes a database without a schema. */
  readonly make: () => Promise<string>;
  readonly makeMigrated: () => Promise<string>;
  /** Runs SQL, as an operator would. */
  readonly execute: (database: string, sql: string) => unknown;
  /** Of this program's schema. */
  readonly schemaVersion: number;
  /** The folder of its migrations in a checkout. */
  readonly migrations: string;
  /** How commands call the database: without a password. */
  readonly nameOf: (database: string) => string;
}

export const engines: Readonly<Record<'SQLite' | 'PostgreSQL', Engine>> = {
  SQLite: {
    make: async () => `sqlite:${files.newPath()}`,
    makeMigrated: async () => `sqlite:${await files.newDatabase()}`,
    execute: (database, sql) => files.execute(pathOf(database), sql),
    schemaVersion: SCHEMA_VERSION.sqlite,
    migrations: 'src/store/sqlite/migrations',
    nameOf: (database) => database,
  },
  PostgreSQL: {
    make: () => server.makeDatabase(),
    makeMigrated: () => server.makeMigrated(),
    execute: (database, sql) => server.execute(database, sql),
    schemaVersion: SCHEMA_VERSION.postgres,
    migrations: 'src/store/postgres/migrations',
    nameOf: (database) => database.replace(`postgres:${PASSWORD}@`, ''),
  },
};

/** Of a SQLite file. */
export const pathOf = (database: string): string => database.replace('sqlite:', '');

type Options = Parameters<typeof runProgram>[1];

/** Runs a command on a database to its end. */
export function run(database: string, words: readonly string[], options?: Options): Promise<Finished> {
  return runProgram([...words, '--database', database], options);
}

/** The same of a command that must succeed and say nothing on standard error: what it prints. */
export async function printed(
  database: string,
  words: readonly string[],
  options?: Options,
): Promise<string> {
  const { code, stdout, stderr } = await run(database, words, options);
  assert.deepEqual({ words, code, stderr }, { words, code: 0, stderr: '' });
  return stdout;
}

/** The same of one that must fail with this code and say this alone. */
export async function refused(
  database: string,
  words: readonly string[],
  { code, stderr, ...options }: Options & { readonly code: number; readonly stderr: string | RegExp },
): Promise<void> {
  const finished = await run(database, words, options);
  assert.deepEqual({ words, code: finished.code, stdout: finished.stdout }, { words, code, stdout: '' });
  if (typeof stderr === 'string') assert.equal(finished.stderr, stderr);
  else assert.match(finished.stderr, stderr);
}
