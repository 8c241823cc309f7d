import assert from 'node:assert/strict';
import * as files from '../storage/new-files.ts';
import { PASSWORD, PostgresServer } from '../storage/postgres-server.ts';
import { SCHEMA_VERSION } from '../storage/todos.ts';
import { runCommand } from '../support/run-command.ts';
import type { Finished } from '../support/start.ts';

export const server = await PostgresServer.startForAll();

/** What the tests of commands want to know about an engine. A database is what `--database` takes. */
export type Engine = (typeof engines)[keyof typeof engines];

export const engines = {
  SQLite: {
    /** Makes a database without a schema. */
    make: async () => `sqlite:${files.newPath()}`,
    makeMigrated: async () => `sqlite:${await files.newDatabase()}`,
    /** Runs SQL, as an operator would. */
    execute: (database: string, sql: string) => files.execute(pathOf(database), sql),
    check: (database: string) => printed(database, ['check']),
    /** SQL for a trigger that leaves out the new rows for which this holds. */
    leavingOut: (table: string, row: string, when = 'INSERT') =>
      `CREATE TRIGGER leaving_out BEFORE ${when} ON ${table} WHEN ${row} BEGIN SELECT RAISE(IGNORE); END`,
    /** Of this program's schema. */
    schemaVersion: SCHEMA_VERSION.sqlite,
    /** How commands call the database: without a password. */
    nameOf: (database: string) => database,
  },
  PostgreSQL: {
    make: () => server.makeDatabase(),
    makeMigrated: () => server.makeMigrated(),
    execute: (database: string, sql: string) => server.execute(database, sql),
    leavingOut: (table: string, row: string, when = 'INSERT') =>
      `CREATE FUNCTION leave_out() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER leaving_out BEFORE ${when} ON ${table}
        FOR EACH ROW WHEN (${row}) EXECUTE FUNCTION leave_out()`,
    check: (database: string) => server.whileSyncing(() => printed(database, ['check'])),
    schemaVersion: SCHEMA_VERSION.postgres,
    nameOf: (database: string) => database.replace(`postgres:${PASSWORD}@`, ''),
  },
};

/** Of a SQLite file. */
export const pathOf = (database: string): string => database.replace('sqlite:', '');

type Options = Parameters<typeof runCommand>[1];

/** Runs a command on a database to its end. */
export function run(database: string, words: readonly string[], options?: Options): Promise<Finished> {
  return runCommand([...words, '--database', database], options);
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
