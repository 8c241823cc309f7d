import { Database } from 'bun:sqlite';
import { database, synchronous } from './settings.ts';
import { ADD, FIND, LIST, REPLACE, type Row, todoOf } from './sql.ts';

const db = new Database(database);
db.run('PRAGMA journal_mode = WAL;');
db.run('PRAGMA foreign_keys = ON;');
db.run(`PRAGMA synchronous = ${synchronous};`);

const find = db.query<Row, [number]>(FIND);
const list = db.query<Row, []>(LIST);
const add = db.query<unknown, [string, number]>(ADD);
const replace = db.query<unknown, [string, number, number, number]>(REPLACE);

/** The store of the peers on Bun. */
export const todos = {
  find(id: number) {
    const row = find.get(id);
    return row === null ? undefined : todoOf(row);
  },
  list: () => list.all().map(todoOf),
  add(title: string, categoryId: number) {
    const { lastInsertRowid } = add.run(title, categoryId);
    return { id: Number(lastInsertRowid), title, done: false, categoryId };
  },
  /** False when there is no such todo. */
  replace: (id: number, title: string, done: boolean, categoryId: number) =>
    replace.run(title, done ? 1 : 0, categoryId, id).changes === 1,
};
