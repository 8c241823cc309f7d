import type { DatabaseSync } from 'node:sqlite';
import type { Inspection } from '../maintenance.ts';
import { MIGRATIONS, ownSchema, pragma } from './schema.ts';

const PARTS = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND type <> 'view'";

/** Keys of other tables that keep a todo from being deleted. */
const KEYS = `SELECT DISTINCT t.name FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f
  WHERE t.type = 'table' AND f."table" = 'todos' COLLATE NOCASE AND f.on_delete IN ('NO ACTION', 'RESTRICT')`;

/** A string, a name in quotes, a comment, white space, a word, or another character. */
const TOKEN =
  /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)|\s+|\w+|[^\w\s]/g;

/** What a definition of a column has that may refuse a row. */
const REFUSES = /^(?:CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN)\b|\b(?:CHECK|UNIQUE|REFERENCES|AS)\b/i;

const MOVE = 'move the list into a new database by "todo-service export" and "todo-service import"';

/** The parts of a list that the migrations make otherwise, and parts that they do not make and that may do harm. */
export function compareDefinitions(database: DatabaseSync): Inspection {
  if (pragma(database, 'user_version') > MIGRATIONS.version)
    return { facts: { definitions: 'not compared: they are newer' }, faults: [] };
  const wanted = ownSchema((own) => partsOf(own));
  const found = partsOf(database);
  const faults = [...wanted].flatMap(([name, part]) => {
    const there = found.get(name)?.definitions ?? [];
    const missing = part.definitions.filter((definition) => !there.includes(definition));
    const names = new Set(part.definitions.map(nameOf));
    const others = there.filter(
      (each) => !names.has(nameOf(each)) && (REFUSES.test(each) || isDemanded(each)),
    );
    return [
      ...missing.map((each) => `its ${name} is changed, and must have "${each}": ${MOVE}`),
      ...others.map((each) => ofOthers(`"${each}" of ${name}`, removalOf(each, part.table))),
    ];
  });
  const tables = new Set([...wanted.values()].map(({ table }) => table));
  for (const [name, { type, table, definitions }] of found) {
    const isHarm = type === 'trigger' || (type === 'index' && /^CREATE UNIQUE /i.test(definitions[0] ?? ''));
    if (isHarm && tables.has(table) && !wanted.has(name)) faults.push(ofOthers(name, `DROP ${name}`));
  }
  for (const { name } of database.prepare(KEYS).all())
    faults.push(ofOthers(`foreign key of table ${name} to todos`, 'make it ON DELETE CASCADE, or remove it'));
  return { facts: { definitions: 'compared' }, faults };
}

const ofOthers = (what: string, remedy: string): string =>
  `the ${what} is of others, and may change or refuse what is written: ${remedy}`;

function removalOf(definition: string, table: string): string {
  const [first = '', name] = definition.split(' ');
  if (/^CONSTRAINT$/i.test(first)) return `ALTER TABLE ${table} DROP CONSTRAINT ${name}`;
  return /^(?:CHECK|UNIQUE|PRIMARY|FOREIGN)\b/i.test(first)
    ? MOVE
    : `ALTER TABLE ${table} DROP COLUMN ${first}`;
}

/** Whether a column wants a value that no insert of this program gives. */
const isDemanded = (column: string): boolean => /\bNOT NULL\b/i.test(column) && !/\bDEFAULT\b/i.test(column);

/** The name of a column, or the words of a constraint. */
function nameOf(definition: string): string {
  const [first = ''] = definition.split(' ');
  return /^(?:CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN)$/i.test(first) ? definition : first;
}

interface Part {
  readonly type: string;
  /** The table that it is of. */
  readonly table: string;
  /** Of a table its columns and constraints, and what stands behind them; of any other part its text. */
  readonly definitions: readonly string[];
}

function partsOf(database: DatabaseSync): ReadonlyMap<string, Part> {
  const parts = database.prepare(PARTS).all();
  return new Map(
    parts.map(({ type, name, tbl_name, sql }) => {
      const text = String(sql);
      const definitions = type === 'table' ? definitionsOf(text) : [plain(text)];
      return [`${type} ${name}`, { type: String(type), table: String(tbl_name), definitions }];
    }),
  );
}

/** The text of a definition with single spaces, without comments, and names without needless quotes. */
function plain(text: string): string {
  const tokens = (text.match(TOKEN) ?? []).map(plainToken);
  return tokens.join('').replaceAll(/ +/g, ' ').replaceAll('( ', '(').replaceAll(' )', ')').trim();
}

function plainToken(token: string): string {
  if (/^(?:\s|--|\/\*)/.test(token)) return ' ';
  return /^["`[](\w+)["`\]]$/.exec(token)?.[1] ?? token;
}

/** The parts between the commas of the outer brackets, and what stands behind these. */
function definitionsOf(sql: string): readonly string[] {
  const definitions = [''];
  let depth = 0;
  for (const token of sql.match(TOKEN) ?? []) {
    if (token === ')') depth -= 1;
    const isBetween = (depth === 1 && token === ',') || (depth === 0 && token === ')');
    if (isBetween) definitions.push('');
    else if (depth > 0 || definitions.length > 1) definitions[definitions.length - 1] += token;
    if (token === '(') depth += 1;
  }
  return definitions.map(plain).filter((definition) => definition !== '');
}
