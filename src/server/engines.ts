import type { DatabaseSettings } from '../storage/settings.ts';

/** The functions of each engine, which take an address first. A part is imported when used: a command needs few. */
export const ADAPTERS = {
  sqlite: {
    openStore: async () => (await import('../storage/sqlite/store.ts')).openSqliteStore,
    openMaintenance: async () => (await import('../storage/sqlite/maintenance.ts')).openSqliteMaintenance,
    migrate: async () => (await import('../storage/sqlite/maintenance.ts')).migrateSqlite,
    backup: async () => {
      const { backupSqlite } = await import('../storage/sqlite/maintenance.ts');
      const { removeDatabase } = await import('../storage/sqlite/file.ts');
      return { backup: backupSqlite, remove: removeDatabase };
    },
    restore: () => import('../storage/sqlite/restore.ts'),
    transfer: () => import('../storage/sqlite/transfer.ts'),
    schema: () => import('../storage/sqlite/schema.ts'),
    nameOf: async (path: string) => `sqlite:${path}`,
  },
  postgresql: {
    openStore: async () => (await import('../storage/postgres/store.ts')).openPostgresStore,
    openMaintenance: async () => (await import('../storage/postgres/maintenance.ts')).openPostgresMaintenance,
    migrate: async () => (await import('../storage/postgres/maintenance.ts')).migratePostgres,
    transfer: () => import('../storage/postgres/transfer.ts'),
    schema: () => import('../storage/postgres/schema.ts'),
    nameOf: async (address: string) =>
      (await import('../storage/postgres/address.ts')).addressOf(address).name,
  },
};

/** The name of a database for people, without user and password. */
export function nameOf({ engine, address }: DatabaseSettings): Promise<string> {
  return ADAPTERS[engine].nameOf(address);
}
