import Database from 'better-sqlite3';
import { database, synchronous } from './settings.ts';
import { ADD, FIND, LIST, REPLACE, type Row, todoOf } from './sql.ts';

const db = new Database(database);
db.pragma('journal_mode = WAL');
db.pragma(`synchronous = ${synchronous}`);

const find = db.prepare<[number], Row>(FIND);
const list = db.prepare<[], Row>(LIST);
const add = db.prepare<[string, number]>(ADD);
const replace = db.prepare<[string, number, number, number]>(REPLACE);

/** The store of the peers on Node.js. */
export const todos = {
  find(id: number) {
    const row = find.get(id);
    return row === undefined ? undefined : todoOf(row);
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
