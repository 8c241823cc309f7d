import type { DatabaseSettings } from './store/database.ts';

/**
 * What each engine can do. A part is imported when it is used: a process has one engine, and a command needs few parts.
 * Each function that is found here takes the address of a database first.
 */
export const ADAPTERS = {
  sqlite: {
    openStore: async () => (await import('./store/sqlite/store.ts')).openSqliteStore,
    openOperator: async () => (await import('./store/sqlite/operator.ts')).openSqliteOperator,
    migrate: async () => (await import('./store/sqlite/operator.ts')).migrateSqlite,
    transfer: () => import('./store/sqlite/transfer.ts'),
    schema: () => import('./store/sqlite/schema.ts'),
    nameOf: async (path: string) => `sqlite:${path}`,
  },
  postgresql: {
    openStore: async () => (await import('./store/postgres/store.ts')).openPostgresStore,
    openOperator: async () => (await import('./store/postgres/operator.ts')).openPostgresOperator,
    migrate: async () => (await import('./store/postgres/operator.ts')).migratePostgres,
    transfer: () => import('./store/postgres/transfer.ts'),
    schema: () => import('./store/postgres/schema.ts'),
    nameOf: async (address: string) => (await import('./store/postgres/address.ts')).addressOf(address).name,
  },
};

/** For people, without user and password. */
export function nameOf({ engine, address }: DatabaseSettings): Promise<string> {
  return ADAPTERS[engine].nameOf(address);
}
