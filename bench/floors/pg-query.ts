import { createServer } from 'node:http';
import pg from 'pg';

/** A prepared query by `pg` behind `node:http`, with as many connections as the service has: no token. */
const pool = new pg.Pool({ connectionString: process.env.DATABASE, max: 10 });
const FIND = {
  name: 'find',
  text: 'SELECT id, title, done, category_id AS "categoryId" FROM todos WHERE id = $1',
};

createServer(async (request, response) => {
  const id = Number(request.url?.slice('/todos/'.length));
  const { rows } = await pool.query({ ...FIND, values: [id] });
  const body = JSON.stringify(rows[0]);
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');
