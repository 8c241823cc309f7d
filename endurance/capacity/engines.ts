import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from '../../test/folder.ts';
import { familySeconds } from '../../test/process-figures.ts';
import { runProgram } from '../../test/start.ts';
import { PostgresServer } from '../../test/storage/postgres-server.ts';
import { insertTodos, makeTodos } from '../make-todos.ts';

/** Where todos are kept while they are measured. */
export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** Makes a database with so many todos, which goes when it is disposed. */
  fill(todos: number): Promise<Filled>;
  /** Seconds of processor that the server of the database took so far; 0 without one. */
  serverSeconds(): number;
}

export interface Filled extends AsyncDisposable {
  /** What `--database` names. */
  readonly database: string;
  /** Bytes of the file, or of the tables with their indexes. */
  size(): Promise<number>;
  /** Bytes that one remembered `Idempotency-Key` takes. No service may be at work. */
  keySize(): Promise<number>;
}

export const SQLITE: Engine = {
  name: 'SQLite',
  serverSeconds: () => 0,
  async fill(todos) {
    const folder = await temporaryFolder();
    const path = join(folder.path, 'todos.db');
    await makeTodos(path, todos);
    return {
      database: `sqlite:${path}`,
      size: async () => statSync(path).size,
      async keySize() {
        using file = new DatabaseSync(path);
        const row = file
          .prepare(
            `SELECT (SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'idempotency_keys%') * 1.0
               / (SELECT count(*) FROM idempotency_keys) AS bytes`,
          )
          .get();
        return Number(row?.bytes);
      },
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  },
};

const TABLES = `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
  WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`;

/** A PostgreSQL of its own, which waits for its disk. Owned: `await using`. */
export async function startPostgres(): Promise<Engine & AsyncDisposable> {
  const server = await PostgresServer.start('fsync=on');
  const [postmaster = ''] = readFileSync(join(server.dataFolder, 'postmaster.pid'), 'utf8').split('\n');
  return {
    name: 'PostgreSQL',
    serverSeconds: () => familySeconds(Number(postmaster)),
    async fill(todos) {
      const database = await server.makeDatabase();
      const bytes = async (sql: string) => Number((await server.execute(database, sql))[0]?.bytes);
      await runProgram(['migrate', '--database', database]);
      await server.execute(database, insertTodos(todos, 'upper(substr(md5(i::text), 1, 26)), false, 1'));
      await server.execute(database, 'VACUUM ANALYZE todos');
      await server.execute(database, 'CHECKPOINT');
      return {
        database,
        size: () => bytes(TABLES),
        keySize: () =>
          bytes(`SELECT pg_total_relation_size('idempotency_keys')::float8 / count(*) AS bytes
            FROM idempotency_keys`),
        async [Symbol.asyncDispose]() {
          await server.execute(server.url, `DROP DATABASE ${new URL(database).pathname.slice(1)}`);
        },
      };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
