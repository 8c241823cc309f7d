import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { migrateSqlite } from './sqlite-store.ts';

const folder = await temporaryFolder();
after(() => folder[Symbol.asyncDispose]());
let made = 0;

/** The path of a file that is not there, in a folder of its own, which goes when all tests of the test file are over. */
export function newPath(name = 'todos.db'): string {
  made += 1;
  const own = join(folder.path, `${made}`);
  mkdirSync(own);
  return join(own, name);
}

/** The path of a database with the schema of this program. */
export async function newDatabase(): Promise<string> {
  const path = newPath();
  await migrateSqlite(path);
  return path;
}

/** Runs SQL behind the back of whoever has the file open; foreign keys do not bind it. */
export function execute(path: string, sql: string): void {
  using database = new DatabaseSync(path, { enableForeignKeyConstraints: false, timeout: 5_000 });
  database.exec(sql);
}

/** Adds so many todos. @param title SQL, of the number `i`. */
export function fill(path: string, todos: number, title = "printf('Todo %d', i)"): void {
  execute(
    path,
    `INSERT INTO todos (title, category_id)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${todos}) SELECT ${title}, 1 FROM n`,
  );
}

/** The titles in a database that is whole. */
export function titlesOf(path: string): readonly unknown[] {
  using database = new DatabaseSync(path);
  assert.deepEqual(database.prepare('PRAGMA integrity_check').all().map(Object.values), [['ok']]);
  return database
    .prepare('SELECT title FROM todos')
    .all()
    .map(({ title }) => title);
}
