import { join } from 'node:path';
import { test } from 'node:test';
import { cases } from '../support/cases.ts';
import { temporaryFolder } from '../support/folder.ts';
import { moveThereAndBack } from './moving.ts';
import { PostgresServer } from './postgres-server.ts';

const server = await PostgresServer.startForAll();

test('generated databases are the same after a move to PostgreSQL and back [E1; E2]', async () => {
  await using folder = await temporaryFolder();
  for (let seed = 1; seed <= cases(4, 60); seed += 1)
    await moveThereAndBack(seed, join(folder.path, `${seed}.db`), await server.makeDatabase());
});
