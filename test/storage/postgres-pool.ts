import type { LogEvent } from '../../src/events.ts';
import { SETTINGS } from '../../src/settings/table.ts';
import type { TodoStore } from '../../src/shared-list/store.ts';
import { addressOf } from '../../src/storage/postgres/address.ts';
import { Cluster } from '../../src/storage/postgres/cluster.ts';
import { migratePostgres as migrate } from '../../src/storage/postgres/maintenance.ts';
import type { Limits } from '../../src/storage/postgres/postgres-connection-pool.ts';
import { StatementPool } from '../../src/storage/postgres/statement-pool.ts';
import { openPostgresStore as open } from '../../src/storage/postgres/store.ts';

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
  readonly logEvent?: LogEvent;
}

type Options = Partial<Parameters<typeof open>[1]>;

/** Opens a store with the defaults of the settings, and without a log, except where a test wants it otherwise. */
export function openPostgresStore(url: string, options: Options = {}): Promise<TodoStore> {
  const connections = SETTINGS.TODO_DATABASE_CONNECTIONS.default;
  return open(url, { migrate: true, connections, prepare: true, logEvent: () => {}, ...options });
}

/** Migrates as the command does, without a log. */
export const migratePostgres = (url: string, anotherList = false) => migrate(url, () => {}, anotherList);

/** A store that gives nothing up, however slow the machine is, for tests of what is answered. */
export function openPatient(url: string, options: Options = {}): Promise<TodoStore> {
  return openPostgresStore(url, { limits: PATIENT, ...options });
}

/** The options of a store that gives up by this limit as in production, and by no other. */
export function patientBut(limit: keyof Limits) {
  const { [limit]: _, ...limits } = PATIENT;
  return { limits };
}

/** A pool that is as `PATIENT` says, except where a test wants it otherwise. */
export function openPool(
  url: string,
  { prepare, logEvent = () => {}, ...limits }: Wanted = {},
): StatementPool {
  return new StatementPool(new Cluster(addressOf(url), prepare), { ...PATIENT, ...limits }, logEvent);
}
