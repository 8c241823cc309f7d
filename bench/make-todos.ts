import { DatabaseSync } from 'node:sqlite';
import { runProgram } from '../test/support/start.ts';

/**
 * SQL that inserts so many todos, in either database.
 *
 * @param values of title, done and category, for the number `i` of each.
 */
export function insertTodos(todos: number, values: string): string {
  return `INSERT INTO todos (title, done, category_id)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${todos})
    SELECT ${values} FROM n`;
}

/** Makes a SQLite file with so many todos; by default their titles compress as badly as text of people does. */
export async function makeTodos(
  path: string,
  todos: number,
  values = 'hex(randomblob(13)), false, 1',
): Promise<void> {
  await runProgram(['migrate', '--database', `sqlite:${path}`]);
  using file = new DatabaseSync(path);
  file.exec(`${insertTodos(todos, values)}; PRAGMA wal_checkpoint(TRUNCATE)`);
}
