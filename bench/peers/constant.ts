import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { DATABASE, LIST, listening, type Row, todoOf } from './settings.ts';

/** The least that Node.js can do: one todo, the list, the same in gzip, and a 304, as bytes that were made at the start. */
const todos = (new DatabaseSync(DATABASE).prepare(LIST).all() as Row[]).map(todoOf);
const [list, one] = [todos, todos[0]].map((value) => Buffer.from(JSON.stringify(value)));
const gzip = gzipSync(list ?? '');

const server = createServer(({ url }, response) => {
  if (url === '/unchanged') return response.writeHead(304).end();
  const body = url === '/todos' ? list : url === '/gzip' ? gzip : one;
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Number(body?.length) });
  response.end(body);
}).listen(0, '127.0.0.1', () => listening((server.address() as AddressInfo).port));
