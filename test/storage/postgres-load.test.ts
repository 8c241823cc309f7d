import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore } from '../../src/shared-list/postgres/open.ts';
import { OutcomeUnknown, StoreUnavailable, type TodoStore } from '../../src/shared-list/store.ts';
import { Ledger } from './ledger.ts';
import { PostgresServer } from './postgres-server.ts';
import { listed, newTodo, replacement } from './todos.ts';

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
      write(store, `client ${client}`, ledger, stop.signal),
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

/** One client: it adds a todo, replaces it, removes it, and so on. Whatever fails, it goes on. */
async function write(store: TodoStore, name: string, ledger: Ledger, stop: AbortSignal): Promise<void> {
  for (let step = 0; !stop.aborted; step += 1) {
    const id = await add(store, `${name} step ${step}`, ledger);
    if (id === undefined) continue;
    const json = JSON.stringify({ id, title: name, done: true, categoryId: 2 });
    const replaced = await change(ledger, id, json, () => store.replace(id, replacement(name, true, 2)));
    if (replaced && step % 2 === 0) await change(ledger, id, undefined, () => store.remove(id));
  }
}

async function add(store: TodoStore, title: string, ledger: Ledger): Promise<number | undefined> {
  ledger.asked(title);
  try {
    const outcome = await store.add(newTodo(title, 1));
    assert.ok(typeof outcome === 'object');
    ledger.added(JSON.parse(outcome.json));
    return outcome.id;
  } catch (error) {
    if (notMade(error)) ledger.notAdded(title);
    return undefined;
  }
}

async function change(
  ledger: Ledger,
  id: number,
  after: string | undefined,
  operation: () => Promise<string>,
): Promise<boolean> {
  const done = ledger.changing(id, after);
  try {
    assert.match(await operation(), /^(replaced|removed)$/);
    done();
    return true;
  } catch (error) {
    if (notMade(error)) ledger.refused(id);
    return false;
  }
}

/** Whether it is certain that nothing was changed; nothing else may come of a write than a success or a doubt. */
function notMade(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return true;
  if (error instanceof OutcomeUnknown) return false;
  throw error;
}
