import { addressOf } from '../../src/store/postgres/address.ts';
import { Cluster } from '../../src/store/postgres/cluster.ts';
import type { Limits } from '../../src/store/postgres/connection-pool.ts';
import { Database } from '../../src/store/postgres/database.ts';

/** Longer than any test takes. */
const FOR_EVER_MS = 600_000;

interface Wanted extends Partial<Limits> {
  readonly prepare?: boolean;
}

/** A pool of one connection that gives nothing up, except where a test wants it. */
export function openPool(url: string, { prepare, ...limits }: Wanted = {}): Database {
  const patient = {
    connections: 1,
    connectionMs: FOR_EVER_MS,
    statementMs: FOR_EVER_MS,
    answerMs: FOR_EVER_MS,
    lifetimeMs: FOR_EVER_MS,
    idleMs: FOR_EVER_MS,
  };
  return new Database(new Cluster(addressOf(url), prepare), { ...patient, ...limits }, () => {});
}
