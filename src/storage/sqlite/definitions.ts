import type { DatabaseSync } from 'node:sqlite';
import { comparedWith, type Inspection } from '../maintenance.ts';
import { MIGRATIONS, ownSchema, pragma } from './schema.ts';

/** Names as SQLite compares them, ready for a statement. */
const PARTS = `SELECT type, lower(tbl_name) AS tbl_name, sql,
    CASE WHEN name GLOB '*[^A-Za-z0-9_]*' THEN format('"%w"', lower(name)) ELSE lower(name) END AS name
  FROM sqlite_schema WHERE sql IS NOT NULL AND type <> 'view'`;

/** Keys of other tables that keep a todo from being deleted. */
const KEYS = `SELECT DISTINCT t.name
  FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f, pragma_table_info(t.name) AS c
  WHERE t.type = 'table' AND f."table" = 'todos' COLLATE NOCASE AND c.name = f."from" COLLATE NOCASE
    AND CASE f.on_delete WHEN 'CASCADE' THEN false WHEN 'SET NULL' THEN c."notnull"
      WHEN 'SET DEFAULT' THEN c."notnull" OR coalesce(c.dflt_value, 'NULL') <> 'NULL' COLLATE NOCASE ELSE true END`;

/** Indexes that compute a value, or whether a row is in them. */
const COMPUTING = `SELECT DISTINCT format('index %s', lower(i.name)) AS name
  FROM sqlite_schema AS t, pragma_index_list(t.name) AS i, pragma_index_xinfo(i.name) AS c
  WHERE lower(t.name) IN (SELECT value FROM json_each(?)) AND NOT i."unique" AND (i.partial OR c.cid = -2) ORDER BY 1`;

/** A string, a name in quotes, a comment, white space, a word, or another character. */
const TOKEN =
  /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)|\s+|\w+|[^\w\s]/g;

/** What a definition of a column has that may refuse a row. */
const REFUSES = /\b(?:CHECK|UNIQUE|FOREIGN|REFERENCES|AS)\b/i;
const CONSTRAINT = /^(?:CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN)$/i;

const MOVE = 'move the list into a new database by "todo-service export" and "todo-service import"';

/** The parts of a list that the migrations make otherwise, and parts that they do not make and that may do harm. */
export function compareDefinitions(database: DatabaseSync): Inspection {
  if (pragma(database, 'user_version') > MIGRATIONS.version)
    return { facts: { definitions: 'not compared: they are newer' }, faults: [] };
  const wanted = ownSchema((own) => partsOf(own));
  const found = partsOf(database);
  const faults = [...wanted].flatMap(([name, part]) => {
    const there = found.get(name)?.definitions ?? [];
    const known = new Set(there.map(meaningOf));
    const missing = part.definitions.filter((definition) => !known.has(meaningOf(definition)));
    const names = new Set(part.definitions.map(nameOf));
    const others = there.filter((each) => !names.has(nameOf(each)) && mayRefuse(each));
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
  const computing = database.prepare(COMPUTING).all(JSON.stringify([...tables]));
  return { facts: comparedWith(computing.map(({ name }) => String(name))), faults };
}

const ofOthers = (what: string, remedy: string): string =>
  `the ${what} is of others, and may change or refuse what is written: ${remedy}`;

function removalOf(definition: string, table: string): string {
  const [first = '', , name] = tokensOf(definition);
  if (/^CONSTRAINT$/i.test(first)) return `ALTER TABLE ${table} DROP CONSTRAINT ${name}`;
  return CONSTRAINT.test(first) ? MOVE : `ALTER TABLE ${table} DROP COLUMN ${first}`;
}

/** Also of a column that wants a value which no insert of this program gives. */
function mayRefuse(definition: string): boolean {
  const words = tokensOf(definition)
    .filter((token) => /^[\w ]/.test(token))
    .join('');
  return REFUSES.test(words) || (/\bNOT NULL\b/i.test(words) && !/\bDEFAULT\b(?! NULL\b)/i.test(words));
}

/** The name of a column, or all of a constraint. */
function nameOf(definition: string): string {
  const [first = ''] = tokensOf(definition);
  return meaningOf(CONSTRAINT.test(first) ? definition : first);
}

/** The same for texts that differ in white space, quotes of names, case outside of strings, or the place of NOT NULL. */
function meaningOf(definition: string): string {
  const words = tokensOf(definition)
    .filter((token) => token !== ' ')
    .map((token) => (token.startsWith("'") ? token : token.replace(/^["`[](\w+)["`\]]$/, '$1').toLowerCase()))
    .join(' ');
  return words.replace(/^(.+?)( not null)(.*)$/s, '$1$3$2');
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

const tokensOf = (text: string): readonly string[] => text.match(TOKEN) ?? [];

/** The text of a definition with single spaces, without comments. */
function plain(text: string): string {
  const tokens = tokensOf(text).map((token) => (/^(?:\s|--|\/\*)/.test(token) ? ' ' : token));
  return tokens.join('').replaceAll(/ +/g, ' ').replaceAll('( ', '(').replaceAll(' )', ')').trim();
}

/** The parts between the commas of the outer brackets, and what stands behind these. */
function definitionsOf(sql: string): readonly string[] {
  const definitions = [''];
  let depth = 0;
  for (const token of tokensOf(sql)) {
    if (token === ')') depth -= 1;
    const isBetween = (depth === 1 && token === ',') || (depth === 0 && token === ')');
    if (isBetween) definitions.push('');
    else if (depth > 0 || definitions.length > 1) definitions[definitions.length - 1] += token;
    if (token === '(') depth += 1;
  }
  return definitions.map(plain).filter((definition) => definition !== '');
}
