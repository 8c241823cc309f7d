import type { Logger } from 'pino';
import { type Condition, databaseAnswers } from './admin/readiness.ts';
import type { Parts } from './app.ts';
import type { Config, SharedListConfig } from './config.ts';
import type { Metrics } from './observe/metrics.ts';
import type { ServedDatabase } from './store/database.ts';
import type { Migrated } from './store/operator.ts';
import type { FileNews } from './store/sqlite/health.ts';
import type { TodoStore } from './store/store.ts';

/** What a profile works with. */
export interface OpenProfile {
  readonly profile: Parts['profile'];
  /** Where the todos are, without a password; undefined when they are in memory. */
  readonly database: string | undefined;
  /** Where the keys are, never secret; undefined when nobody is asked for a token. */
  readonly keys: string | undefined;
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
  metrics: Metrics | undefined,
  log: Logger,
  parts: AsyncDisposableStack,
): Promise<OpenProfile> {
  if (profile.name === 'shared-list') return openSharedList(profile, metrics, log, parts);
  return { profile, database: undefined, keys: undefined, conditions: [] };
}

/** The version of the schema that this program makes and works with; undefined where nothing is stored. */
export async function schemaVersionOf(profile: Config['profile']): Promise<number | undefined> {
  if (profile.name !== 'shared-list') return undefined;
  const isSqlite = profile.database.engine === 'sqlite';
  const schema = await (isSqlite ? import('./store/sqlite/schema.ts') : import('./store/postgres/schema.ts'));
  return schema.latestVersion();
}

/** Imports what the error demo does not need. */
async function openSharedList(
  { name, database, auth }: SharedListConfig,
  metrics: Metrics | undefined,
  log: Logger,
  parts: AsyncDisposableStack,
): Promise<OpenProfile> {
  const { openAuthenticator } = await import('./auth/authenticate.ts');
  const { store, name: databaseName } = await openStore(database, log);
  parts.use(store);
  const keysTaken = metrics === undefined ? {} : { keysTaken: metrics.keysTaken };
  const authenticator = parts.use(await openAuthenticator(auth, { log, ...keysTaken }));
  if (database.engine === 'sqlite') metrics?.watchWriteAheadLog(database.path);
  if (store.connections !== undefined) metrics?.watchConnections(store.connections.bind(store));
  return {
    profile: { name, store, authenticate: authenticator.authenticate },
    database: databaseName,
    keys: authenticator.describe(),
    conditions: [authenticator.ready, databaseAnswers(() => store.check())],
  };
}

/** Imports the adapter of the configured engine alone. The name is for people, without a password. */
async function openStore(
  database: ServedDatabase,
  log: Logger,
): Promise<{ readonly store: TodoStore; readonly name: string }> {
  const onMigrated = ({ from, to }: Migrated) =>
    log.info({ event: 'schema-migrated', from, to }, `brought the schema from version ${from} to ${to}`);
  if (database.engine === 'sqlite') {
    const { openSqliteStore } = await import('./store/sqlite/open.ts');
    const { path, cacheBytes } = database;
    const waiting = (owner: string) =>
      log.info({ event: 'waiting', owner }, 'waiting for the database file, which another process serves');
    const store = await openSqliteStore(path, {
      cacheBytes,
      waiting,
      onMigrated,
      onLogMoved: (to) => log.warn({ event: 'log-moved', path: to }, LOG_MOVED),
      onFileNews: (news) => logFileNews(log, path, news),
    });
    return { store, name: `sqlite:${path}` };
  }
  const { openPostgresStore } = await import('./store/postgres/open.ts');
  const { addressOf } = await import('./store/postgres/address.ts');
  const { connectionString, migrate, connections, prepare } = database;
  const store = await openPostgresStore(connectionString, {
    migrate,
    connections,
    prepare,
    onMigrated,
    onConnectionLost: ({ message }) =>
      log.warn({ event: 'connection-lost', reason: message }, 'an idle database connection ended'),
    onSchema: (fault) => {
      if (fault === undefined)
        log.info({ event: 'schema-mended' }, 'what the database lacked is there again');
      else
        log.error({ event: 'schema-broken', reason: fault }, 'the database lacks something that is needed');
    },
  });
  return { store, name: addressOf(connectionString).name };
}

const LOG_MOVED =
  'beside the new database was the log of one that was deleted: it was given another name, and is not read';

/** Says what happened to the file, and what to do. */
function logFileNews(log: Logger, path: string, news: FileNews): void {
  switch (news.kind) {
    case 'gone':
      log.error(
        { event: 'database-gone', reason: news.reason, path },
        'the database file was deleted, moved or replaced, and is not used any more: put it back with the files ' +
          'beside it, or restore a backup, and restart',
      );
      break;
    case 'damaged':
      log.error(
        { event: 'database-damaged', reason: news.reason, path },
        'the database file is damaged, or its disk did not read it: it is read whole, and not used until a restart ' +
          'unless it is sound. Run "todo-service check"',
      );
      break;
    case 'recovered':
      log.info(
        { event: 'database-recovered', path },
        'the database file was read whole and is sound: it is used again',
      );
  }
}
