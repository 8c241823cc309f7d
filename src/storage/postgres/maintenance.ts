import { DatabaseError } from 'pg';
import type { LogEvent } from '../../events.ts';
import { messageOf } from '../../lib/errors.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { StoreUnavailable } from '../../shared-list/store.ts';
import type { Category, Inspection, Maintenance, Migrated } from '../maintenance.ts';
import { rowFaults } from '../transfer/write-export.ts';
import { addressOf } from './address.ts';
import { connect } from './checked-postgres-connection.ts';
import { Cluster } from './cluster.ts';
import { compareDefinitions } from './definitions.ts';
import { checkLogged } from './durability.ts';
import { hasCode, INSUFFICIENT_PRIVILEGE, isIdTaken, NoServer, toStoreError } from './error.ts';
import { SNAPSHOT, sourceBy } from './export-source.ts';
import type { Ask, PostgresConnection } from './postgres-connection.ts';
import { IN_ROWS, TO_CHECK, TO_NUMBER_CATEGORIES, TO_PURGE, toUseCategories } from './requirements.ts';
import { checkSchema, migrate, renewChanges, TAKE_LOCK } from './schema.ts';
import { tableFaults } from './table-faults.ts';
import { faultOf, findAllUnmet, findUnmet, rightsFault } from './unmet-requirements.ts';

const LIST_CATEGORIES = 'SELECT id, name FROM categories ORDER BY id';
const ADD_CATEGORY = `INSERT INTO categories (name)
  SELECT $1 WHERE NOT EXISTS (SELECT FROM categories WHERE name = $1) RETURNING id, name`;
const RENAME_CATEGORY = `UPDATE categories SET name = $2
  WHERE id = $1 AND NOT EXISTS (SELECT FROM categories WHERE name = $2 AND id <> $1) RETURNING id, name`;
const FACTS = `SELECT 'PostgreSQL ' || current_setting('server_version') AS engine,
  (SELECT max(version) FROM todo_schema) AS "schema version", current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  current_setting('synchronous_commit') AS synchronous_commit,
  (SELECT count(*)::int FROM categories) AS categories, (SELECT count(*)::int FROM todos) AS todos`;

/** Connects to a database, served or not. @throws {OperatorError} when it cannot be reached, or has another schema. */
export async function openPostgresMaintenance(connectionString: string): Promise<Maintenance> {
  const connection = await connect(new Cluster(addressOf(connectionString)), checkSchema);
  const listCategories = () => {
    const listed = connection.transaction((ask) => ask<Category>(LIST_CATEGORIES));
    return withRemedy('SELECT', asStoreError('read', listed));
  };

  async function write(right: 'INSERT' | 'UPDATE', text: string, values: unknown[]) {
    await checkLogged(connection).catch((error: Error) => {
      throw new StoreUnavailable(error.message, { cause: error });
    });
    const written = connection.transaction(async (ask) => {
      // Without the lock, two transactions that add the same name at the same moment would not see each other.
      await ask(TAKE_LOCK);
      return ask<Category>({ text, values });
    });
    const [category] = await withRemedy(right, asStoreError('write', written));
    return category;
  }

  /** Adds the remedy to an error about rights, or about an id that is taken. */
  async function withRemedy<T>(right: 'SELECT' | 'INSERT' | 'UPDATE', answer: Promise<T>): Promise<T> {
    return answer.catch(async (error: Error) => {
      const fault = isIdTaken(error.cause)
        ? ((await behindFault()) ?? 'a repeat takes the next one. If it fails too, see "todo-service check"')
        : hasCode(error.cause, INSUFFICIENT_PRIVILEGE) &&
          (await rightsFault(connection, toUseCategories(right)));
      throw fault ? new StoreUnavailable(`${error.message}: ${fault}`, { cause: error }) : error;
    });
  }

  /** The sentence of a sequence that is behind, or of a missing right to look. A failed statement has used up its id. */
  const behindFault = async () =>
    faultOf(await findUnmet((statement) => connection.run(statement), TO_NUMBER_CATEGORIES, IN_ROWS));

  return {
    listCategories,

    addCategory: (name) => write('INSERT', ADD_CATEGORY, [name]),

    renameCategory: (id, name) => write('UPDATE', RENAME_CATEGORY, [id, name]),

    inspect: () => asStoreError('read', inspect(connection)),

    [Symbol.asyncDispose]: () => connection.leave(),
  };
}

async function inspect(connection: PostgresConnection): Promise<Inspection> {
  const unmet = await findAllUnmet(connection, TO_CHECK);
  if (unmet.denied !== undefined) throw new StoreUnavailable(unmet.denied);
  // Missing or hidden parts cannot be counted, and parts of another type not compared.
  const broken = [...unmet.missing, ...unmet.wrong, ...unmet.hidden];
  if (broken.length > 0) return { facts: {}, faults: broken };
  const { facts, faults } = await connection.transaction(async (ask) => ({
    facts: (await ask<Inspection['facts']>(FACTS))[0] ?? {},
    faults: await tableFaults(connection),
  }));
  const unpurged = faultOf(await findAllUnmet(connection, TO_PURGE));
  const judge = async (ask: Ask) => rowFaults(await sourceBy(ask));
  const refused = await connection.transaction(judge, 'COMMIT', SNAPSHOT);
  const compared = await compareDefinitions(connection, Number(facts['schema version']));
  const off = ['fsync', 'full_page_writes']
    .filter((name) => facts[name] === 'off')
    .map((name) => `"${name}" must be "on", received "off": a power cut may lose answered writes`);
  return {
    facts: { ...facts, ...compared.facts },
    faults: [
      ...off,
      ...faults,
      ...refused,
      ...compared.faults,
      ...(unpurged ? [`tombstones are not purged: ${unpurged}`] : []),
      ...unmet.behind.map(({ fault }) => fault),
    ],
  };
}

/**
 * Brings the schema of a database up to this program's version; a current one is left alone. After a restore it makes
 * lists fast again.
 *
 * @param anotherList Whether the list may be made beside that of another schema.
 * @throws {OperatorError} when that cannot be done: `configuration` where no server has a certificate that is trusted.
 */
export async function migratePostgres(
  connectionString: string,
  logEvent: LogEvent,
  anotherList = false,
): Promise<Migrated> {
  let migrated: Migrated = { from: 0, to: 0 };
  const connection = await connect(new Cluster(addressOf(connectionString)), async (opened) => {
    migrated = await migrate(opened, logEvent, anotherList);
    await renewChanges(opened);
  }).catch(asMistrusted);
  await connection.leave();
  return migrated;
}

/** For a `catch`: an untrusted certificate ends the repeats of a migration at once; a service starts again instead. */
function asMistrusted(error: unknown): never {
  if (!(error instanceof OperatorError && error.cause instanceof NoServer && error.cause.mistrusted))
    throw error;
  throw new OperatorError('configuration', error.message, { cause: error.cause });
}

/** Turns an error of the server, such as a missing right, into a line for the operator. */
export async function asStoreError<T>(kind: 'read' | 'write', answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof DatabaseError) throw new StoreUnavailable(messageOf(error), { cause: error });
    throw toStoreError(error, kind);
  }
}
