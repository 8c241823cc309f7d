import type { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../lib/errors.ts';
import { type Failure, isUnprepared } from './error.ts';
import { prepareList } from './reader-thread.ts';
import { ownSchema } from './schema.ts';
import { prepareBatches } from './writer-thread.ts';

/** A part that a service needs, and the schema does not have (contract D11). */
export interface UnmetRequirement extends Failure {
  /** `statement`: some statements cannot be prepared. `type`: all can, and their reads or writes are wrong. */
  readonly kind: 'statement' | 'type';
}

const COLUMNS = `SELECT format('the column "%s" of "%s"', c.name, t.name) AS name, upper(c.type) AS type
  FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'`;

/** Undefined when all parts are there. A statement that cannot be prepared is reported in SQLite's words. */
export function unmetRequirementOf(database: DatabaseSync): UnmetRequirement | undefined {
  try {
    // First: SQLite prepares by the schema that it knows, and learns of changes when a statement runs.
    const types = typesOf(database);
    prepareList(database);
    prepareBatches(
      database,
      () => {},
      () => undefined,
    );
    for (const [name, type] of ownSchema(typesOf)) {
      const received = types.get(name);
      // A missing column is found by the statement that needs it.
      if (received !== undefined && received !== type)
        return { failure: 'broken', kind: 'type', message: `${name} must be ${type}, received ${received}` };
    }
    return undefined;
  } catch (error) {
    if (!isUnprepared(error)) throw error;
    return { failure: 'broken', kind: 'statement', message: messageOf(error) };
  }
}

function typesOf(database: DatabaseSync): ReadonlyMap<string, string> {
  const columns = database.prepare(COLUMNS).all();
  return new Map(columns.map(({ name, type }) => [String(name), String(type)]));
}
