import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { Batches } from './batch.ts';
import { makeDurable } from './durability.ts';
import type { Order, Report } from './writer.ts';

/**
 * Milliseconds to wait for another program's write (the `sqlite3` shell). A write may wait for the batch
 * before it too, and is to be refused within 2.5 s.
 */
const BUSY_TIMEOUT = 1_000;

/** The one thread that writes. It owns its connection; its messages arrive in the order of its commits. */
function serve(file: string, port: NonNullable<typeof parentPort>): void {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT });
  const fault = makeDurable(database);
  if (fault !== undefined) throw new Error(`Cannot write to the database "${file}": ${fault}`);
  const batches = new Batches(database);
  const report = (report: Report): void => port.postMessage(report);
  port.on('message', (order: Order) => {
    if (order !== 'close') return report(batches.commit(order));
    database.close();
    port.close();
  });
  report('ready');
}

if (parentPort !== null) serve(workerData, parentPort);
