import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { DATABASE, LIST, listening, type Row, todoOf } from './settings.ts';

/** The least that Node.js can do: one todo or the list, as bytes that were made at the start. */
const todos = (new DatabaseSync(DATABASE).prepare(LIST).all() as Row[]).map(todoOf);
const [list, one] = [todos, todos[0]].map((value) => Buffer.from(JSON.stringify(value)));

const server = createServer(({ url }, response) => {
  const body = url === '/todos' ? list : one;
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Number(body?.length) });
  response.end(body);
}).listen(0, '127.0.0.1', () => listening((server.address() as AddressInfo).port));
