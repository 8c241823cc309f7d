import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { ClientConnection } from './client-connection.ts';

test('a socket to which no HTTP server listens is not taken over', () => {
  assert.throws(
    () => new ClientConnection(new Socket()),
    /Cannot take over: the HTTP server does not listen/,
  );
});
