import { addressOf } from '../../src/storage/postgres/address.ts';
import { Cluster } from '../../src/storage/postgres/cluster.ts';
import type { Limits } from '../../src/storage/postgres/connection-pool.ts';
import { StatementPool } from '../../src/storage/postgres/statement-pool.ts';
import { openPostgresStore } from '../../src/storage/postgres/store.ts';
import type { TodoStore } from '../../src/todos/store.ts';

/** Longer than any test takes, in milliseconds. */
const FOR_EVER = 600_000;

/** One connection, and nothing is given up. */
export const PATIENT: Limits = {
  connections: 1,
  connectionMs: FOR_EVER,
  statementMs: FOR_EVER,
  answerMs: FOR_EVER,
  lifetimeMs: FOR_EVER,
  idleMs: FOR_EVER,
};

interface Wanted extends Partial<Limits> {
  readonly prepare?: boolean;
}

/** A store that gives nothing up, however slow the machine is, for tests of what is answered. */
export function openPatient(
  url: string,
  options?: Parameters<typeof openPostgresStore>[1],
): Promise<TodoStore> {
  return openPostgresStore(url, { limits: PATIENT, ...options });
}

/** The options of a store that gives up by this limit as in production, and by no other. */
export function patientBut(limit: keyof Limits) {
  const { [limit]: _, ...limits } = PATIENT;
  return { limits };
}

/** A pool that is as `PATIENT` says, except where a test wants it otherwise. */
export function openPool(url: string, { prepare, ...limits }: Wanted = {}): StatementPool {
  return new StatementPool(new Cluster(addressOf(url), prepare), { ...PATIENT, ...limits }, () => {});
}
