import { createServer } from 'node:http';

/** The least that Node.js can do for an answer of this size: no routing, no token, no data. */
const body = JSON.stringify({ id: 5000, title: 'Buy milk for the week 5000', done: false, categoryId: 1 });
const headers = {
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': Buffer.byteLength(body),
};

createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
}).listen(Number(process.env.PORT), '127.0.0.1');
