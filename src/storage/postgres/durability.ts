import { ServerUnfit } from './error.ts';
import type { AnswerLimit, PostgresConnection } from './postgres-connection.ts';
import { OWN_TABLES } from './requirements.ts';

/** SQL for a fault or null (contract D19). It names no table: a balancer takes it for what a standby may answer. */
export const NOT_SYNCED = `CASE WHEN current_setting('synchronous_commit') = 'off'
  THEN 'its "synchronous_commit" must not be "off" for this user and database' END`;

const TABLES = `(SELECT to_regclass(name) FROM unnest(${OWN_TABLES}) AS own (name))`;

/**
 * SQL for a fault or null (contract D19). The tables can be logged again in this order: `todos` refers to `categories`. A
 * table is logged with its sequence; a sequence alone is one that gives out ids again after a crash.
 */
export const UNLOGGED = `(SELECT 'its tables must not be "UNLOGGED", because a crash of the server empties them: '
    || string_agg(format('ALTER %s %s SET LOGGED', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass),
      '; ' ORDER BY relname)
  FROM pg_class WHERE relpersistence = 'u' AND (oid IN ${TABLES}
    OR oid IN (SELECT objid FROM pg_depend JOIN pg_class AS logged ON logged.oid = refobjid
      WHERE classid = 'pg_class'::regclass AND refobjid IN ${TABLES} AND logged.relpersistence <> 'u')))`;

/** @throws {ServerUnfit} when tables lose their rows in a crash of the server. */
export async function checkLogged(connection: PostgresConnection, limit?: AnswerLimit): Promise<void> {
  const [found] = await connection.run<{ fault: string | null }>(`SELECT ${UNLOGGED} AS fault`, limit);
  if (found?.fault) throw new ServerUnfit(found.fault);
}
