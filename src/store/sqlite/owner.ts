import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreNotOpened } from '../store.ts';
import { isBusy } from './error.ts';
import { checkWritable, privateFile } from './file.ts';

const READ_OWNER = 'SELECT pid, host, since FROM owner';
const NAME_OWNER = 'INSERT OR REPLACE INTO owner (only, pid, host, since) VALUES (1, ?, ?, ?)';
const TABLE = `CREATE TABLE IF NOT EXISTS owner (
  only INTEGER PRIMARY KEY CHECK (only = 1), pid INTEGER NOT NULL, host TEXT NOT NULL, since TEXT NOT NULL
) STRICT`;

/** Between two tries for a database that another process still owns. */
const RETRY_INTERVAL_MS = 50;

/**
 * Makes this process the only one that serves `database`, until disposed or dead: contract D6.
 *
 * The lock is an open write transaction on the sidecar `<database>-owner`, so the kernel frees it when the
 * owner dies, and the database itself stays writable for the `sqlite3` shell. The sidecar keeps a rollback
 * journal, in which others may read the owner's name while the transaction is open.
 *
 * @param patienceMs How long to wait for another owner to leave.
 * @param waiting Called once, with who it is, when there is another owner.
 * @throws {StoreNotOpened} `owned`, naming the other process, when that time is over.
 */
export async function lockFile(
  database: string,
  patienceMs: number,
  waiting: (owner: string) => void = () => {},
): Promise<Disposable> {
  const path = `${database}-owner`;
  checkWritable(path);
  const sidecar = new DatabaseSync(privateFile(path), { timeout: 0 });
  try {
    const deadline = performance.now() + patienceMs;
    for (let tries = 0; !claim(sidecar); tries += 1) {
      if (tries === 0) waiting(ownerOf(sidecar));
      if (performance.now() >= deadline) throw owned(database, sidecar, patienceMs);
      await sleep(RETRY_INTERVAL_MS);
    }
  } catch (error) {
    sidecar.close();
    throw error;
  }
  // Never unlinked: a file that is removed while somebody waits for it would have two owners.
  return { [Symbol.dispose]: () => sidecar.close() };
}

/**
 * The name must be committed to be seen, and a commit lets the lock go for a moment: whoever comes in
 * between wins, so the name is read again under the lock that stays.
 */
function claim(sidecar: DatabaseSync): boolean {
  const since = new Date().toISOString();
  try {
    sidecar.exec(`BEGIN IMMEDIATE; ${TABLE}`);
    sidecar.prepare(NAME_OWNER).run(process.pid, hostname(), since);
    sidecar.exec('COMMIT');
    sidecar.exec('BEGIN IMMEDIATE');
    const owner = sidecar.prepare(READ_OWNER).get();
    if (owner?.pid === process.pid && owner.host === hostname() && owner.since === since) return true;
    sidecar.exec('ROLLBACK');
    return false;
  } catch (error) {
    if (!isBusy(error)) throw error;
    if (sidecar.isTransaction) sidecar.exec('ROLLBACK');
    return false;
  }
}

function owned(database: string, sidecar: DatabaseSync, patienceMs: number): StoreNotOpened {
  const waited = patienceMs === 0 ? '' : `, and was not free within ${patienceMs / 1000} s`;
  return new StoreNotOpened(
    'owned',
    `Cannot open the database "${database}": it is served by ${ownerOf(sidecar)}${waited}. One SQLite file is ` +
      'served by one process',
  );
}

function ownerOf(sidecar: DatabaseSync): string {
  try {
    const owner = sidecar.prepare(READ_OWNER).get();
    if (owner !== undefined) return `process ${owner.pid} on ${owner.host} since ${owner.since}`;
  } catch {
    // The other process is just writing its name: there is no table, or it cannot be read.
  }
  return 'another process';
}
