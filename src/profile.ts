import type { Logger } from 'pino';
import { type Condition, databaseAnswers } from './admin/readiness.ts';
import type { Parts } from './app.ts';
import type { Config, SharedListConfig } from './config.ts';
import type { Metrics } from './observe/metrics.ts';
import type { Observer } from './observe/observer.ts';

/** Who looks on while a profile works. */
export interface Onlookers {
  readonly observers: readonly Observer[];
  readonly metrics: Metrics | undefined;
}

/** What a profile works with. */
export interface OpenProfile {
  readonly profile: Parts['profile'];
  /** Lines for people about where the data and the keys are. */
  readonly about: readonly string[];
  /** What must hold before requests can be answered. */
  readonly conditions: readonly Condition[];
}

/**
 * Opens store and keys, which end with `parts`.
 *
 * @throws {StoreNotOpened} when the database cannot be used.
 */
export async function openProfile(
  profile: Config['profile'],
  onlookers: Onlookers,
  log: Logger,
  parts: AsyncDisposableStack,
): Promise<OpenProfile> {
  if (profile.name === 'shared-list') return openSharedList(profile, onlookers, log, parts);
  return { profile, about: ['database   none: todos are kept in memory'], conditions: [] };
}

/** Imports what the error demo does not need. */
async function openSharedList(
  { name, database, auth }: SharedListConfig,
  { observers, metrics }: Onlookers,
  log: Logger,
  parts: AsyncDisposableStack,
): Promise<OpenProfile> {
  const { openSqliteStore } = await import('./shared-list/sqlite/open.ts');
  const { openAuthenticator } = await import('./auth/open.ts');
  const store = parts.use(await openSqliteStore(database.path, onCommit(observers)));
  const keysTaken = metrics === undefined ? {} : { keysTaken: metrics.keysTaken };
  const authenticator = parts.use(await openAuthenticator(auth, { log, ...keysTaken }));
  metrics?.watchWriteAheadLog(database.path);
  if (store.connections !== undefined) metrics?.watchConnections(store.connections.bind(store));
  return {
    profile: {
      name,
      store: observers.reduce((watched, observer) => observer.watchStore(watched), store),
      authenticate: observers.reduce(
        (watched, observer) => observer.watchAuthenticate(watched),
        authenticator.authenticate,
      ),
    },
    about: [`database   sqlite:${database.path}`, `tokens     ${authenticator.describe()}`],
    conditions: [authenticator.ready, databaseAnswers(() => store.check())],
  };
}

function onCommit(observers: readonly Observer[]) {
  if (observers.length === 0) return {};
  const committed: Observer['committed'] = (writes, from, until) => {
    for (const observer of observers) observer.committed(writes, from, until);
  };
  return { committed };
}
