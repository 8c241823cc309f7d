import type { Client } from 'pg';
import type { Category, Inspection, Migrated, Operator } from '../operator.ts';
import { StoreUnavailable } from '../store.ts';
import { connect } from './connect.ts';
import { errorOf, isAnswer, messageOf } from './error.ts';
import { LOCK, migrate, schemaFault, schemaVersion, serverFault } from './schema.ts';

const LIST_CATEGORIES = 'SELECT id, name FROM categories ORDER BY id';
const ADD_CATEGORY = `INSERT INTO categories (name)
  SELECT $1 WHERE NOT EXISTS (SELECT FROM categories WHERE name = $1) RETURNING id, name`;
const FACTS = `SELECT 'PostgreSQL ' || current_setting('server_version') AS engine,
  (SELECT version FROM todo_schema) AS "schema version", current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  current_setting('synchronous_commit') AS synchronous_commit,
  (SELECT count(*)::int FROM categories) AS categories, (SELECT count(*)::int FROM todos) AS todos`;
const INVALID = `SELECT conname AS name FROM pg_constraint
    WHERE conrelid IN ('todos'::regclass, 'categories'::regclass) AND NOT convalidated
  UNION ALL SELECT indexrelid::regclass::text FROM pg_index
    WHERE indrelid IN ('todos'::regclass, 'categories'::regclass) AND NOT indisvalid`;

/** Milliseconds to wait for a server. An operator sees that it is not there, and tries again. */
const PATIENCE = 0;

/**
 * Connects to a database that instances may be using.
 *
 * @throws {StoreNotOpened} when it cannot be reached, or has another schema than this program's.
 */
export async function openPostgresOperator(connectionString: string): Promise<Operator> {
  const { client } = await connect(connectionString, PATIENCE, async (opened) => {
    return (await serverFault(opened)) ?? (await schemaFault(opened));
  });
  return new PostgresOperator(client);
}

/**
 * Brings the schema of a database up to this program's version; one that is there already is left alone.
 *
 * @throws {StoreNotOpened} when that cannot be done.
 */
export async function migratePostgres(connectionString: string): Promise<Migrated> {
  const versions: number[] = [];
  const { client } = await connect(connectionString, PATIENCE, async (opened) => {
    versions.push(await schemaVersion(opened));
    const fault = (await serverFault(opened)) ?? (await migrate(opened));
    versions.push(await schemaVersion(opened));
    return fault;
  });
  await client.end();
  const [from = 0, to = 0] = versions;
  return { from, to };
}

class PostgresOperator implements Operator {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  async listCategories(): Promise<readonly Category[]> {
    return (await told('read', this.#client.query<Category>(LIST_CATEGORIES))).rows;
  }

  async addCategory(name: string): Promise<Category | 'name-taken'> {
    // Two of one name, added at the same moment, would not see each other without the lock.
    await told('read', this.#client.query('BEGIN'));
    await told('read', this.#client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]));
    const { rows } = await told('read', this.#client.query<Category>(ADD_CATEGORY, [name]));
    await told('write', this.#client.query('COMMIT'));
    return rows[0] ?? 'name-taken';
  }

  async inspect(): Promise<Inspection> {
    const { rows } = await told('read', this.#client.query<Inspection['facts']>(FACTS));
    const invalid = await told('read', this.#client.query<{ name: string }>(INVALID));
    const facts = rows[0] ?? {};
    const off = ['fsync', 'full_page_writes'].filter((name) => facts[name] === 'off');
    return {
      facts,
      faults: [
        ...off.map((name) => `"${name}" must be "on", received "off": a power cut may lose answered writes`),
        ...invalid.rows.map(({ name }) => `${name} is not valid`),
      ],
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client.end();
  }
}

/** What the server refuses, a permission for one, is a line for the operator. */
async function told<T>(kind: 'read' | 'write', answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw isAnswer(error) ? new StoreUnavailable(messageOf(error), { cause: error }) : errorOf(error, kind);
  }
}
