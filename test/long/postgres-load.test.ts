import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore } from '../storage/postgres-pool.ts';
import { PostgresServer, stall } from '../storage/postgres-server.ts';
import { startWriters } from '../storage/writers.ts';

const server = await PostgresServer.startForAll();

/** What happens to the server while eight clients write. */
const outages: Readonly<Record<string, (url: string) => Promise<void>>> = {
  'its connections are terminated': (url) => server.terminate(url),
  'it is stopped and started': async () => {
    await server.stop();
    await server.startAgain();
  },
  'it stalls': async (url) => {
    using _stall = stall(await server.backends(url));
    await sleep(1_600);
  },
};

for (const [outage, make] of Object.entries(outages)) {
  test(`when ${outage} under load, what was answered is there, and what was refused is not`, async () => {
    const url = await server.makeDatabase();
    await using store = await openPostgresStore(url);
    const { answers, faults } = startWriters([store]);
    for (let round = 0; round < 2; round += 1) {
      await sleep(100);
      await make(url);
    }
    await answers(100);
    assert.deepEqual(await faults(), []);
  });
}
