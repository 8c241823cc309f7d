import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { insertTodos, makeTodos } from '../endurance/make-todos.ts';
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

/** Values of a todo, in SQL: those of `todoNumber`. */
const TODO = "'Buy milk for the week ' || i, i % 3 = 0, i % 2 + 1";

export async function openKit(): Promise<Kit> {
  const parts = new AsyncDisposableStack();
  const folder = parts.use(await temporaryFolder()).path;
  const keys = makeKeys(folder);
  const prepared = new Map<string, Promise<Prepared>>();
  const databases = new Map<string, Promise<string>>();
  let copies = 0;

  async function copySqlite(todos: number): Promise<string> {
    const template = join(folder, `todos-${todos}.db`);
    await once(databases, template, () => makeTodos(template, todos, TODO).then(() => template));
    copies += 1;
    const copy = join(folder, `copy-${copies}.db`);
    cpSync(template, copy);
    return copy;
  }

  async function makePostgres(todos: number): Promise<string> {
    const server = parts.use(await PostgresServer.start());
    const database = await server.makeDatabase();
    await runProgram(['migrate', '--database', database]);
    await server.execute(database, `${insertTodos(todos, TODO)}; ANALYZE todos`);
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
