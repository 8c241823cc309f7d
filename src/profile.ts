import { type Condition, databaseAnswers } from './admin/routes.ts';
import type { Parts } from './app.ts';
import type { Config, SharedListConfig } from './config.ts';
import type { Tell } from './events.ts';
import type { Metrics } from './observe/metrics.ts';
import type { ServedDatabase } from './store/database.ts';
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
  tell: Tell,
  parts: AsyncDisposableStack,
): Promise<OpenProfile> {
  if (profile.name === 'shared-list') return openSharedList(profile, metrics, tell, parts);
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
  tell: Tell,
  parts: AsyncDisposableStack,
): Promise<OpenProfile> {
  const { openAuthenticator } = await import('./auth/authenticate.ts');
  const { store, name: databaseName } = await openStore(database, tell);
  parts.use(store);
  const keysTaken = metrics === undefined ? {} : { keysTaken: metrics.keysTaken };
  const authenticator = parts.use(await openAuthenticator(auth, { tell, ...keysTaken }));
  metrics?.watchStore(store);
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
  tell: Tell,
): Promise<{ readonly store: TodoStore; readonly name: string }> {
  if (database.engine === 'sqlite') {
    const { openSqliteStore } = await import('./store/sqlite/open.ts');
    const { path, cacheBytes } = database;
    return { store: await openSqliteStore(path, { cacheBytes, tell }), name: `sqlite:${path}` };
  }
  const { openPostgresStore } = await import('./store/postgres/open.ts');
  const { addressOf } = await import('./store/postgres/address.ts');
  const { connectionString, migrate, connections, prepare } = database;
  const store = await openPostgresStore(connectionString, { migrate, connections, prepare, tell });
  return { store, name: addressOf(connectionString).name };
}
