import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { Batches } from './batch.ts';
import { makeDurable } from './durability.ts';
import { isMachineFault } from './error.ts';
import type { Order, Report } from './writer.ts';

/**
 * Milliseconds to wait for another program's write (the `sqlite3` shell). A write may wait for the batch
 * before it too, and is to be refused within 2.5 s.
 */
const BUSY_TIMEOUT = 1_000;

/** Milliseconds between two looks for another program's changes, which are to be seen within 100. */
const LOOK_INTERVAL = 50;

/** The one thread that writes. It owns its connection; its messages arrive in the order of its commits. */
function serve(file: string, port: NonNullable<typeof parentPort>): void {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT });
  const fault = makeDurable(database);
  if (fault !== undefined) throw new Error(`Cannot write to the database "${file}": ${fault}`);
  const tell = (report: Report): void => port.postMessage(report);
  const batches = new Batches(database, () => tell('changed-elsewhere'));
  const looking = setInterval(() => look(batches), LOOK_INTERVAL);
  port.on('message', (order: Order) => {
    if (order !== 'close') return tell(batches.commit(order));
    clearInterval(looking);
    database.close();
    port.close();
  });
  tell('ready');
}

/** A database that cannot be read now is looked at again in a moment. */
function look(batches: Batches): void {
  try {
    batches.lookElsewhere();
  } catch (error) {
    if (!isMachineFault(error)) throw error;
  }
}

if (parentPort !== null) serve(workerData, parentPort);
