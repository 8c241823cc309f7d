import type { PostgresConnection } from './postgres-connection.ts';
import { OWN_TABLES, TO_PURGE, TO_SERVE } from './requirements.ts';
import { grants } from './unmet-requirements.ts';

/**
 * The right that a role lacks to migrate: the ownership of a table, or else that to make one. Beside it, that to use the
 * schema which the server's message names, as of an extension that looks at every new table.
 */
const LACK = `SELECT quote_ident(current_user) AS role, coalesce((
    SELECT 'the ownership of the tables' FROM unnest(${OWN_TABLES}) AS own
      JOIN pg_class ON pg_class.oid = to_regclass(own) WHERE NOT pg_has_role(relowner, 'USAGE') LIMIT 1
  ), (
    SELECT format('GRANT CREATE ON SCHEMA %I TO %I', nspname, current_user) FROM pg_namespace
      WHERE oid = coalesce((SELECT relnamespace FROM pg_class WHERE oid = to_regclass('todo_schema')),
        to_regnamespace(quote_ident(current_schema()))) AND NOT has_schema_privilege(oid, 'CREATE')
  )) AS lack, (
    SELECT format(': GRANT USAGE ON SCHEMA %I TO %I', nspname, current_user) FROM pg_namespace
      WHERE position(nspname IN $1) > 0 AND NOT has_schema_privilege(oid, 'USAGE') ORDER BY length(nspname) DESC LIMIT 1
  ) AS usage`;

/** The right that a role lacks to migrate, and the way with fewer; "" where it has all, and another rule refuses. */
export async function rightsToMigrate(connection: PostgresConnection, message = ''): Promise<string> {
  const statement = { text: LACK, values: [message] };
  const [who] = await connection.run<Record<'role' | 'lack' | 'usage', string>>(statement);
  if (!who?.lack) return who?.usage ?? '';
  return (
    `. To migrate, its role needs ${who.lack}; else run "todo-service migrate" as the owner of the schema, ` +
    `and serve with --no-migrate, which needs less: ${grants(
      [...TO_SERVE, ...TO_PURGE].filter(({ by }) => by === undefined),
      who.role,
    )}`
  );
}
