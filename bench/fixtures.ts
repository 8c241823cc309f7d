import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { type Running, startServer } from './process.ts';
import { type Surroundings, serverNamed } from './servers.ts';
import { todoNumber } from './todos.ts';

/** Makes databases with todos in them: the schema by the service itself, the rows by SQL. */
export class Fixtures {
  readonly #folder: string;
  readonly #surroundings: Omit<Surroundings, 'database' | 'port'>;
  readonly #made = new Map<number, Promise<string>>();
  #copies = 0;

  constructor(folder: string, surroundings: Omit<Surroundings, 'database' | 'port'>) {
    this.#folder = folder;
    this.#surroundings = surroundings;
  }

  /** Path of a new SQLite file with this many todos. */
  async sqlite(todos: number): Promise<string> {
    const template = this.#made.get(todos) ?? this.#makeSqlite(todos);
    this.#made.set(todos, template);
    this.#copies += 1;
    const copy = join(this.#folder, `copy-${this.#copies}`, 'todos.db');
    mkdirSync(join(copy, '..'));
    cpSync(await template, copy);
    return copy;
  }

  async #makeSqlite(todos: number): Promise<string> {
    const path = join(this.#folder, `todos-${todos}.db`);
    await this.#makeSchema(path);
    const database = new DatabaseSync(path);
    const add = database.prepare('INSERT INTO todos (title, done, category_id) VALUES (?, ?, ?)');
    database.exec('BEGIN');
    for (let id = 1; id <= todos; id += 1) {
      const { title, done, categoryId } = todoNumber(id);
      add.run(title, done ? 1 : 0, categoryId);
    }
    database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    return path;
  }

  /** Fills an empty PostgreSQL database. */
  async postgres(connectionString: string, todos: number): Promise<void> {
    await this.#makeSchema(connectionString);
    const client = new pg.Client({ connectionString });
    await client.connect();
    const rows = Array.from({ length: todos }, (_, index) => todoNumber(index + 1));
    await client.query(
      'INSERT INTO todos (title, done, category_id) SELECT * FROM unnest($1::text[], $2::boolean[], $3::int[])',
      [rows.map((row) => row.title), rows.map((row) => row.done), rows.map((row) => row.categoryId)],
    );
    await client.query('ANALYZE todos');
    await client.end();
  }

  async #makeSchema(database: string): Promise<void> {
    const running: Running = await startServer(serverNamed('service'), { ...this.#surroundings, database });
    await running.stop();
  }
}
