import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe } from 'node:test';
import ky from 'ky';
import { listen } from '../../test/support/folder.ts';
import { holds } from './holds.ts';

describe('the client', () => {
  holds(
    'ky repeats a conditional PUT whose answer was lost, and gives the 412 of its own first try',
    async () => {
      const asked: string[] = [];
      let tag = '"1"';
      const server = createServer((request, response) => {
        const isCurrent = request.headers['if-match'] === tag;
        asked.push(`${request.method} ${request.headers['if-match']}`);
        // The change is made, and a proxy loses the answer.
        tag = '"2"';
        response.writeHead(isCurrent ? 502 : 412).end();
      });
      const address = `http://127.0.0.1:${await listen(server)}/todos/1`;
      try {
        const options = { json: {}, headers: { 'if-match': '"1"' }, retry: { delay: () => 0 } };
        const status = await ky.put(address, options).catch(({ response }) => response.status);
        return { asked, status };
      } finally {
        server.closeAllConnections();
        await once(server.close(), 'close');
      }
    },
    { asked: ['PUT "1"', 'PUT "1"'], status: 412 },
  );
});
