/** What every peer is told by its environment. KEEP=1: the bytes of the list stay until a write. */
export const { DATABASE = '', ISSUER = '', AUDIENCE = '', SECRET = '', KEEP } = process.env;

export const PRAGMAS = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON';
export const FIND = 'SELECT id, title, done, category_id FROM todos WHERE id = ?';
export const LIST = 'SELECT id, title, done, category_id FROM todos ORDER BY id';
export const ADD = 'INSERT INTO todos (title, category_id) VALUES (?, ?)';
export const REPLACE = 'UPDATE todos SET title = ?, done = ?, category_id = ? WHERE id = ?';

export type Row = { id: number; title: string; done: number | boolean; category_id: number };

export function todoOf({ id, title, done, category_id: categoryId }: Row) {
  return { id, title, done: Boolean(done), categoryId };
}

export const foundOf = (row: unknown) => (row ? todoOf(row as Row) : undefined);

export const listening = (port: number | undefined) =>
  process.stdout.write(`listening http://127.0.0.1:${port}\n`);
