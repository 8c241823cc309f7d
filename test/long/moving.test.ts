import { join } from 'node:path';
import { after, test } from 'node:test';
import { temporaryFolder } from '../storage/folder.ts';
import { moveThereAndBack } from '../storage/moving.ts';
import { PostgresServer } from '../storage/postgres-server.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

test('E1, E2 · 200 random databases are the same after a move to PostgreSQL and back', async () => {
  await using folder = await temporaryFolder();
  for (let seed = 1; seed <= 200; seed += 1)
    await moveThereAndBack(seed, join(folder.path, `${seed}.db`), await server.makeDatabase());
});
