import { test } from 'node:test';
import { PostgresServer } from './postgres-server.ts';

test('a server is made where new files are for their owner alone, by root too', async () => {
  const before = process.umask(0o077);
  try {
    await PostgresServer.initialiseAnew();
  } finally {
    process.umask(before);
  }
});
