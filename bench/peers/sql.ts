/** Statements of every server, and the row they give. */
export const FIND = 'SELECT id, title, done, category_id FROM todos WHERE id = ?';
export const LIST = 'SELECT id, title, done, category_id FROM todos ORDER BY id';
export const ADD = 'INSERT INTO todos (title, category_id) VALUES (?, ?)';
export const REPLACE = 'UPDATE todos SET title = ?, done = ?, category_id = ? WHERE id = ?';

export interface Row {
  id: number;
  title: string;
  done: number;
  category_id: number;
}

export function todoOf(row: Row) {
  return { id: row.id, title: row.title, done: row.done === 1, categoryId: row.category_id };
}
