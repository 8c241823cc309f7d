import type { PostgresServer } from './postgres-server.ts';

/** As docs/postgresql.md has them. */
export const rightsOf = (role: string): string =>
  `GRANT SELECT, INSERT, UPDATE, DELETE ON todos, idempotency_keys TO ${role};
  GRANT SELECT ON categories, todo_schema, todo_tombstones, todo_purged TO ${role};
  GRANT SELECT ON SEQUENCE todos_id_seq, categories_id_seq TO ${role}`;

/** A database with the schema, and a role that has the rights which serving needs, and no more. */
export async function makeServing(server: PostgresServer) {
  const url = await server.makeMigrated();
  const { role, url: own } = await server.makeRole(url);
  await server.execute(url, rightsOf(role));
  return { url, role, own };
}
