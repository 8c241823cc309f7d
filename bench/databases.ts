import { cpSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresServer } from '../test/storage/postgres-server.ts';
import { temporaryFolder } from '../test/support/folder.ts';
import { runProgram } from '../test/support/start.ts';
import { insertTodos, makeTodos } from './make-todos.ts';

export type Engine = 'SQLite' | 'PostgreSQL';

/** A database of one server's own, its bytes, and the first process of its PostgreSQL. */
export interface Copy extends AsyncDisposable {
  readonly url: string;
  readonly bytes: number;
  readonly postmaster?: number | undefined;
}

export interface Databases extends AsyncDisposable {
  /** A new copy of a database with so many todos, as `todoNumber` tells them. */
  copy(engine: Engine, todos: number): Promise<Copy>;
}

/** Titles of 26 characters, which compress as badly as text of people does: three products, and what is left of the id. */
const FACTORS = [2_654_435_761, 2_246_822_519, 3_266_489_917];

export function todoNumber(id: number) {
  const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0');
  const title = FACTORS.map((factor) => hex((id * factor) % 2 ** 32, 8)).join('') + hex(id % 256, 2);
  return { id, title, done: false, categoryId: 1 };
}

const IN_SQLITE = `printf('%08X%08X%08X%02X', ${FACTORS.map((factor) => `i * ${factor} % 4294967296`)}, i % 256), false, 1`;

const hexInPostgres = (value: string, digits: number) => `lpad(upper(to_hex(${value})), ${digits}, '0')`;
const IN_POSTGRES = `${[
  ...FACTORS.map((factor) => hexInPostgres(`i::bigint * ${factor} % 4294967296`, 8)),
  hexInPostgres('i % 256', 2),
].join(' || ')}, false, 1`;

/** Databases in a folder, and in a PostgreSQL server that starts when it is first needed. */
export function openDatabases(folder: string, synced: boolean): Databases {
  let starting: Promise<PostgresServer> | undefined;
  const templates = new Map<number, Promise<string>>();

  async function copyOfFile(todos: number): Promise<Copy> {
    const template = join(folder, `${todos}.db`);
    if (!existsSync(template)) await makeTodos(template, todos, IN_SQLITE);
    const own = await temporaryFolder();
    const file = join(own.path, 'todos.db');
    cpSync(template, file);
    return {
      url: `sqlite:${file}`,
      bytes: statSync(file).size,
      [Symbol.asyncDispose]: own[Symbol.asyncDispose],
    };
  }

  async function makeTemplate(postgres: PostgresServer, todos: number): Promise<string> {
    const url = await postgres.makeDatabase();
    await runProgram(['migrate', '--database', url]);
    await postgres.execute(url, insertTodos(todos, IN_POSTGRES));
    await postgres.execute(url, 'VACUUM ANALYZE todos');
    return nameOf(url);
  }

  async function copyInPostgres(todos: number): Promise<Copy> {
    // A disk that stands still for a second would fail requests, and a smoke test asks for no figure.
    starting ??= PostgresServer.start(`fsync=${synced ? 'on' : 'off'}`);
    const postgres = await starting;
    const template = templates.get(todos) ?? makeTemplate(postgres, todos);
    templates.set(todos, template);
    const url = await postgres.makeDatabase(await template);
    const [row] = await postgres.execute(url, "SELECT pg_total_relation_size('todos') AS bytes");
    return {
      url,
      bytes: Number(row?.bytes),
      postmaster: postgres.pid,
      async [Symbol.asyncDispose]() {
        await postgres.execute(postgres.url, `DROP DATABASE ${nameOf(url)} WITH (FORCE)`);
      },
    };
  }

  return {
    copy: (engine, todos) => (engine === 'SQLite' ? copyOfFile(todos) : copyInPostgres(todos)),
    async [Symbol.asyncDispose]() {
      await (await starting)?.[Symbol.asyncDispose]();
    },
  };
}

const nameOf = (url: string) => new URL(url).pathname.slice(1);
