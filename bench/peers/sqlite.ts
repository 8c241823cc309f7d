import { DatabaseSync } from 'node:sqlite';
import { ADD, DATABASE, FIND, LIST, PRAGMAS, REPLACE, type Row } from './settings.ts';

const database = new DatabaseSync(DATABASE);
database.exec(PRAGMAS);
const [finding, listing, adding, replacing] = [FIND, LIST, ADD, REPLACE].map((sql) => database.prepare(sql));

export const find = (id: number) => finding?.get(id);
export const list = () => listing?.all() as Row[];
export const add = (title: string, category: number) => Number(adding?.run(title, category).lastInsertRowid);
export const replace = (title: string, done: boolean, category: number, id: number) =>
  replacing?.run(title, done ? 1 : 0, category, id).changes;
