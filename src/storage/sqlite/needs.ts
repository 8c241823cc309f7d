import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../lib/errors.ts';
import { type Failure, isUnprepared } from './error.ts';
import { prepareList } from './reader-thread.ts';
import { migrate } from './schema.ts';
import { prepareBatches } from './writer-thread.ts';

/** What a service needs, and the schema does not have (contract D11). */
export interface Lack extends Failure {
  /** `statement`: some cannot be prepared. `type`: all can, and what they read or write is wrong. */
  readonly kind: 'statement' | 'type';
}

const COLUMNS = `SELECT format('the column "%s" of "%s"', c.name, t.name) AS name, upper(c.type) AS type
  FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'`;

/** Undefined when all is there. A statement that cannot be prepared is said as SQLite says it. */
export function lackOf(database: DatabaseSync): Lack | undefined {
  try {
    // First: SQLite prepares by what it knows of a schema, and learns of changes when a statement runs.
    const types = typesOf(database);
    prepareList(database);
    prepareBatches(
      database,
      () => {},
      () => undefined,
    );
    for (const [name, type] of ownTypes()) {
      const received = types.get(name);
      // What is not there at all, a statement misses that needs it.
      if (received !== undefined && received !== type)
        return { failure: 'broken', kind: 'type', message: `${name} must be ${type}, received ${received}` };
    }
    return undefined;
  } catch (error) {
    if (!isUnprepared(error)) throw error;
    return { failure: 'broken', kind: 'statement', message: messageOf(error) };
  }
}

/** By the name of the column. */
type Types = ReadonlyMap<string, string>;

function typesOf(database: DatabaseSync): Types {
  const columns = database.prepare(COLUMNS).all();
  return new Map(columns.map(({ name, type }) => [String(name), String(type)]));
}

let own: Types | undefined;

/** What the migrations make. */
function ownTypes(): Types {
  if (own === undefined) {
    using database = new DatabaseSync(':memory:');
    migrate(database);
    own = typesOf(database);
  }
  return own;
}
