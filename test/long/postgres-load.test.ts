import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { Ledger } from '../storage/ledger.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { listed } from '../storage/todos.ts';
import { writeUntil } from '../storage/writers.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

/** What happens to the server while eight clients write. */
const troubles: Readonly<Record<string, (url: string) => Promise<void>>> = {
  'its connections are terminated': (url) => server.terminate(url),
  'it is stopped and started': async () => {
    await server.stop();
    await server.startAgain();
  },
  'it stalls': async (url) => {
    const pids = await server.backends(url);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await sleep(1_600);
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  },
};

for (const [trouble, make] of Object.entries(troubles)) {
  test(`when ${trouble} under load, what was answered is there, and what was refused is not`, async () => {
    const url = await server.makeDatabase();
    await using store = await openPostgresStore(url);
    const ledger = new Ledger();
    const stop = new AbortController();
    const clients = Array.from({ length: 8 }, (_, client) =>
      writeUntil(store, `client ${client}`, ledger, stop.signal),
    );
    for (let round = 0; round < 2; round += 1) {
      await sleep(100);
      await make(url);
    }
    await writesAgain(ledger);
    stop.abort();
    await Promise.all(clients);
    assert.deepEqual(ledger.compare(await listed(store)), []);
  });
}

/** Resolves when the clients have got another hundred answers. */
async function writesAgain(ledger: Ledger): Promise<void> {
  const before = ledger.acknowledged;
  while (ledger.acknowledged < before + 100) await sleep(1);
}
