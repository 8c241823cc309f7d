import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { LIST, type Row, todoOf } from '../peers/sql.ts';

/** Sends the bytes of the list, made once at the start: no token, no data that changes. */
const database = new DatabaseSync(process.env.DATABASE ?? '');
const rows = database.prepare(LIST).all() as unknown as Row[];
const body = Buffer.from(JSON.stringify(rows.map(todoOf)));
const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length };

createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');
