import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { runProgram } from '../test/start.ts';

/** Makes `todos.db` in a folder, with so many todos, whose titles compress as badly as text of people does. */
export async function makeTodos(folder: string, todos: number): Promise<void> {
  const path = join(folder, 'todos.db');
  await runProgram(['migrate', '--database', `sqlite:${path}`]);
  using file = new DatabaseSync(path);
  file.exec(`INSERT INTO todos (title, category_id)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${todos})
    SELECT hex(randomblob(13)), 1 FROM n`);
}
