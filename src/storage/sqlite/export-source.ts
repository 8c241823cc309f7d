import type { DatabaseSync } from 'node:sqlite';
import { orUndefined } from '../../lib/errors.ts';
import { MISSING } from '../../shared-list/members.ts';
import { StoreUnavailable } from '../../shared-list/store.ts';
import { type ExportSource, type Kind, PART_SIZE, type StoredRow, TABLES } from '../transfer/contents.ts';
import { asStoreError } from './error.ts';

/** SQLite gives out no id that a row has, or that it gave out before; what is no integer counts as 0. */
const HIGHEST = `SELECT CAST(max(
    (SELECT coalesce(max(CAST(id AS integer)), 0) FROM todos),
    (SELECT coalesce(max(CAST(todo_id AS integer)), 0) FROM kept),
    (SELECT coalesce(max(CAST(seq AS integer)), 0) FROM sqlite_sequence WHERE name = 'todos')
  ) AS real)`;

/** Bytes. A longer text is too long for every rule, and stays in the file. */
const LONGEST_TEXT = 8_192;

/**
 * The value of a column, whatever it holds. Of a text, its bytes: as text, bytes that are none would be U+FFFD. An integer
 * that JavaScript has not, and any other value, is a text.
 */
function storedValue(column: string, kind: string): string {
  if (kind === 'text')
    return `CASE WHEN typeof(${column}) <> 'text' THEN CASE WHEN ${column} IS NOT NULL THEN 0 END
      WHEN octet_length(${column}) <= ${LONGEST_TEXT} THEN CAST(${column} AS blob)
      ELSE printf('%.${LONGEST_TEXT}c', 'x') END`;
  return `CASE WHEN typeof(${column}) = 'integer'
      AND ${column} BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER} THEN ${column}
    WHEN ${column} IS NOT NULL THEN substr(CAST(${column} AS text), 1, 20) END`;
}

/** A database in a transaction of the caller's. An older schema may lack tables and columns. */
export function sourceOf(database: DatabaseSync, isUnchanged = async () => true): ExportSource {
  const since = Number(database.prepare('SELECT unixepoch() AS now').get()?.now) - 86_400;
  const encoding = String(database.prepare('PRAGMA encoding').get()?.encoding);
  const utf = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  const hasKeys = columnsOf(database, TABLES.keys.table).size > 0;
  const kept = hasKeys ? 'idempotency_keys' : '(SELECT NULL AS key, NULL AS todo_id, NULL AS at WHERE false)';
  const from = { categories: 'categories', todos: 'todos', keys: `${kept} WHERE at > ${since}` };
  const numberOf = (sql: string) => Number(Object.values(database.prepare(sql).get() ?? {})[0]);
  const count = (kind: Kind) => numberOf(`SELECT count(*) FROM ${from[kind]}`);

  async function* parts(kind: Kind): AsyncGenerator<readonly StoredRow[]> {
    const { table, columns } = TABLES[kind];
    const there = columnsOf(database, table);
    const values = columns.map(({ column, kind }) =>
      there.has(column) ? storedValue(column, kind) : 'NULL',
    );
    const statement = database.prepare(`SELECT ${values} FROM ${from[kind]} ORDER BY ${columns[0].column}`);
    statement.setReturnArrays(true);
    const stored = statement.iterate();
    function nextPart(): readonly StoredRow[] {
      const part: StoredRow[] = [];
      while (part.length < PART_SIZE) {
        const { done, value: row } = stored.next();
        if (done) break;
        const read = columns.map(({ name, column, kind }, index) => {
          if (!there.has(column)) return [name, Reflect.get(MISSING, name)];
          return [name, memberOf(row[index], kind, utf)];
        });
        part.push(Object.fromEntries(read));
      }
      return part;
    }
    // Behind its end, an iterator of Node.js 24.15 begins anew: a part that is not full is the last.
    for (let size = PART_SIZE; size === PART_SIZE; ) {
      const part = asStoreError(nextPart);
      size = part.length;
      if (size > 0) yield part;
    }
  }

  return {
    counts: { categories: count('categories'), todos: count('todos'), keys: count('keys') },
    highestId: numberOf(`WITH kept AS (SELECT * FROM ${kept}) ${HIGHEST}`),
    parts,
    async check() {
      if (await isUnchanged()) return;
      throw new StoreUnavailable('the file was changed while it was read, so what was written is of no use');
    },
    [Symbol.asyncDispose]: async () => database.close(),
  };
}

/** The names of the columns of a table; none when it is missing. */
function columnsOf(database: DatabaseSync, table: string): ReadonlySet<unknown> {
  const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(table);
  return new Set(columns.map(({ name }) => name));
}

/** The value of a member, by that of `storedValue`. What is no text in UTF-8 stays bytes. */
function memberOf(value: unknown, kind: string, utf: TextDecoder): unknown {
  if (value instanceof Uint8Array) return orUndefined(() => utf.decode(value)) ?? value;
  if (kind === 'boolean' && (value === 0 || value === 1)) return value === 1;
  return value ?? undefined;
}
