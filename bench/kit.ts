import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from '../test/folder.ts';
import { runProgram } from '../test/start.ts';
import { PostgresServer } from '../test/storage/postgres-server.ts';
import { drawRequests, type TodoRequest } from './requests.ts';
import type { Scenario } from './scenarios.ts';
import type { Told } from './servers.ts';
import { makeKeys, type TokenMaker } from './tokens.ts';
import { type Load, openLoad } from './wrk.ts';

/** What is the same for every server of a scenario. */
export interface Prepared {
  readonly tokens: TokenMaker;
  /** Who may write. */
  readonly editor: string;
  readonly requests: readonly TodoRequest[];
  readonly load: Load;
  /** With a database of its own in SQLite: a server may write. */
  tell(): Promise<Omit<Told, 'port'>>;
}

/** Keys, databases and requests of a whole benchmark, made when they are first needed. Owned: `await using`. */
export interface Kit extends AsyncDisposable {
  readonly folder: string;
  prepare(scenario: Scenario): Promise<Prepared>;
}

export async function openKit(): Promise<Kit> {
  const parts = new AsyncDisposableStack();
  const folder = parts.use(await temporaryFolder()).path;
  const keys = makeKeys(folder);
  const prepared = new Map<string, Promise<Prepared>>();
  const databases = new Map<string, Promise<string>>();
  let copies = 0;

  async function copySqlite(todos: number): Promise<string> {
    const template = join(folder, `todos-${todos}.db`);
    await once(databases, template, () => makeSqlite(template, todos));
    copies += 1;
    const copy = join(folder, `copy-${copies}.db`);
    cpSync(template, copy);
    return copy;
  }

  async function makePostgres(todos: number): Promise<string> {
    const server = parts.use(await PostgresServer.start());
    const database = await server.makeDatabase();
    await runProgram(['migrate', '--database', database]);
    await server.execute(database, `${fill(todos)}; ANALYZE todos`);
    return database;
  }

  async function prepare({ kind, todos, algorithm, database, synced }: Scenario): Promise<Prepared> {
    const tokens = keys[algorithm];
    const editor = await tokens.make({ name: 'ada', role: 'editor' });
    const requests = await drawRequests(kind, todos, tokens, editor);
    return {
      tokens,
      editor,
      requests,
      load: openLoad(requests, folder),
      tell: async () => ({
        algorithm,
        keyFile: tokens.keyFile,
        synced,
        database: await (database === 'sqlite'
          ? copySqlite(todos)
          : once(databases, 'postgres', () => makePostgres(todos))),
      }),
    };
  }

  return {
    folder,
    prepare: (scenario) => once(prepared, scenario.name, () => prepare(scenario)),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

function once<T>(made: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  const value = made.get(name) ?? make();
  made.set(name, value);
  return value;
}

async function makeSqlite(path: string, todos: number): Promise<string> {
  await runProgram(['migrate', '--database', `sqlite:${path}`]);
  using database = new DatabaseSync(path);
  database.exec(`${fill(todos)}; PRAGMA wal_checkpoint(TRUNCATE)`);
  return path;
}

/** Makes the todos of `todoNumber`, in either database. */
function fill(todos: number): string {
  return `INSERT INTO todos (title, done, category_id)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${todos})
    SELECT 'Buy milk for the week ' || i, i % 3 = 0, i % 2 + 1 FROM n`;
}
