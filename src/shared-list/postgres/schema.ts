import type { Client } from 'pg';
import { Migrations } from '../migrations.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);

/** "todo" in ASCII: whoever holds this advisory lock changes the schema or the categories. */
export const LOCK = 0x746f646f;

/** Oldest supported server. */
const OLDEST_MAJOR = 15;

const SERVER = `SELECT current_setting('server_version_num')::int / 10000 AS major,
  current_setting('server_encoding') AS encoding, current_setting('synchronous_commit') AS commit`;
const MAKE_VERSION = 'CREATE TABLE IF NOT EXISTS todo_schema (version integer NOT NULL)';
const FIND_VERSION_TABLE = "SELECT to_regclass('todo_schema') IS NOT NULL AS found";
const READ_VERSION = 'SELECT coalesce(max(version), 0) AS version FROM todo_schema';
const FIRST_CATEGORIES = `INSERT INTO categories (name)
  SELECT name FROM (VALUES ('Work'), ('Life')) AS first (name) WHERE NOT EXISTS (SELECT FROM categories)`;

/** What is wrong with the server, for people, or undefined. */
export async function serverFault(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ major: number; encoding: string; commit: string }>(SERVER);
  const [{ major, encoding, commit } = { major: 0, encoding: '', commit: '' }] = rows;
  if (major < OLDEST_MAJOR) return `PostgreSQL must be ${OLDEST_MAJOR} or later, received ${major}`;
  if (encoding !== 'UTF8') return `its encoding must be "UTF8", received "${encoding}"`;
  // An answer means that the change is on disk.
  return commit === 'off'
    ? 'its "synchronous_commit" must not be "off" for this user and database'
    : undefined;
}

/**
 * Brings the schema up to this program's version and makes the first categories, `Work` (1) and `Life` (2),
 * where there is none (contract D7). One transaction under one lock: of several instances that start
 * together, one does it and the others find it done.
 *
 * @returns what is wrong with the schema, for people, or undefined; then nothing was changed.
 */
export async function migrate(client: Client): Promise<string | undefined> {
  await client.query('BEGIN');
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await client.query(MAKE_VERSION);
    const fault = await applyMigrations(client);
    if (fault === undefined) await client.query(FIRST_CATEGORIES);
    await client.query(fault === undefined ? 'COMMIT' : 'ROLLBACK');
    return fault;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/** As `migrate`, for an instance that may change nothing: an older schema is a fault as well. */
export async function schemaFault(client: Client): Promise<string | undefined> {
  const migrations = new Migrations(MIGRATIONS);
  const version = await schemaVersion(client);
  if (version >= migrations.version) return migrations.faultOf(version);
  return `its schema must be version ${migrations.version}, received ${version}: run "todo-service migrate" first`;
}

/** 0 when there is no schema. */
export async function schemaVersion(client: Client): Promise<number> {
  const { rows } = await client.query<{ found: boolean }>(FIND_VERSION_TABLE);
  return rows[0]?.found === true ? versionOf(client) : 0;
}

async function applyMigrations(client: Client): Promise<string | undefined> {
  const migrations = new Migrations(MIGRATIONS);
  const version = await versionOf(client);
  for (const sql of migrations.from(version)) await client.query(sql);
  if (version < migrations.version) {
    await client.query('DELETE FROM todo_schema');
    await client.query('INSERT INTO todo_schema (version) VALUES ($1)', [migrations.version]);
  }
  return migrations.faultOf(version);
}

async function versionOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ version: number }>(READ_VERSION);
  return rows[0]?.version ?? 0;
}
