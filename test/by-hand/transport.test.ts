import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { describe } from 'node:test';
import { listen } from '../../test/support/folder.ts';
import { holds } from './holds.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

describe('one request of a connection at a time', () => {
  holds(
    'node:http tells of hundreds of requests of one connection in one turn',
    async () => {
      let ofTurn = 0;
      let most = 0;
      const server = createServer((_, response) => {
        if (ofTurn === 0) setImmediate(() => (ofTurn = 0));
        ofTurn += 1;
        most = Math.max(most, ofTurn);
        response.end();
      });
      const socket = connect(await listen(server), '127.0.0.1');
      socket.write(REQUEST.repeat(3_000)).valueOf();
      await once(socket, 'data');
      socket.destroy();
      await once(server.close(), 'close');
      return most > 500;
    },
    true,
  );
});
