// https://node-postgres.com/features/pooling, https://node-postgres.com/features/queries#prepared-statements
import { Pool } from 'pg';
import { ADD, DATABASE, FIND, LIST, REPLACE, type Row } from './settings.ts';

const pool = new Pool({ connectionString: DATABASE, max: 10 });

function prepared(name: string, sql: string) {
  let place = 0;
  const text = sql.replaceAll('?', () => `$${++place}`);
  return (...values: unknown[]) => pool.query<Row>({ name, text, values });
}

const [finding, listing] = [prepared('find', FIND), prepared('list', LIST)];
const [adding, replacing] = [prepared('add', `${ADD} RETURNING id`), prepared('replace', REPLACE)];

export const find = async (id: number) => (await finding(id)).rows[0];
export const list = async () => (await listing()).rows;
export const add = async (title: string, category: number) =>
  Number((await adding(title, category)).rows[0]?.id);
export const replace = async (title: string, done: boolean, category: number, id: number) =>
  (await replacing(title, done, category, id)).rowCount;
