import { DatabaseError } from 'pg';
import { messageOf } from '../../lib/errors.ts';
import type { Inspection } from '../maintenance.ts';
import { hasCode, INSUFFICIENT_PRIVILEGE } from './error.ts';
import type { Ask, PostgresConnection } from './postgres-connection.ts';
import { OWN_TABLES } from './requirements.ts';
import { MAKE_VERSION, MIGRATIONS } from './schema.ts';

/** A part of a list, by the name that it has in every list. */
interface Part {
  readonly name: string;
  /** SQL that makes it, also where it is another one. */
  readonly make: string;
  /** SQL that removes it; null where one that no migration makes does no harm. */
  readonly remove: string | null;
}

const MAKE_SCHEMA = 'CREATE SCHEMA todo_service_new; SET LOCAL search_path = todo_service_new';

/** The search path of a function, which is looked at by itself (`unmet.ts`). */
const PATH = /SET search_path TO (?:'[^']*'(?:, )?)+ /;

// A name has its schema where the search path does not lead to it. Constraints "n" are NOT NULL, from PostgreSQL 18 on.
// Tables of which the name begins with "todo_" have no primary key, which is the replica identity of the others.
const PARTS = `WITH own AS MATERIALIZED (
    SELECT oid, oid::regclass AS name, relkind FROM pg_class WHERE oid = ANY (${OWN_TABLES}::regclass[])
  ), parts (place, name, make, remove) AS (
    SELECT 1, format('function %s', oid::regprocedure),
      trim(regexp_replace(overlay(pg_get_functiondef(oid) PLACING '' FROM length('CREATE OR REPLACE FUNCTION ') + 1
        FOR length(pronamespace::regnamespace || '.')), '[[:space:]]+', ' ', 'g')), NULL
      FROM pg_proc WHERE starts_with(proname, 'todo_') AND prokind = 'f'
        AND pronamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'todos'::regclass)
    UNION ALL SELECT 2, format('column %s.%I', name, attname), format('ALTER TABLE %s ', name) || concat_ws(', ',
        CASE WHEN attcollation <> 0 THEN format('ALTER COLUMN %I TYPE %s COLLATE %s', attname,
          format_type(atttypid, atttypmod), attcollation::regcollation) END,
        CASE WHEN attname <> 'id' THEN format('ALTER COLUMN %I ', attname) || coalesce('SET DEFAULT ' || (
          SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum), 'DROP DEFAULT') END,
        CASE WHEN attnotnull THEN format('ALTER COLUMN %I SET NOT NULL', attname) END,
        CASE WHEN attgenerated <> '' OR attidentity = 'a' AND attname <> 'id' THEN 'GENERATED' END,
        (SELECT format('ALTER COLUMN %I SET INCREMENT %s SET MINVALUE %s SET MAXVALUE %s SET%s CYCLE', attname,
          seqincrement, seqmin, seqmax, CASE WHEN NOT seqcycle THEN ' NO' END) FROM pg_sequence
          WHERE seqrelid = pg_get_serial_sequence(name::text, attname)::regclass)),
      CASE WHEN attnotnull AND NOT atthasdef AND attidentity = ''
        THEN format('ALTER TABLE %s ALTER COLUMN %I DROP NOT NULL', name, attname) END
      FROM own JOIN pg_attribute ON attrelid = own.oid
      WHERE attnum > 0 AND NOT attisdropped
    UNION ALL SELECT CASE contype WHEN 'f' THEN 4 ELSE 3 END, format('constraint %s of %s', conname, conrelid::regclass),
      concat(format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I, ADD CONSTRAINT %2$I %s', conrelid::regclass, conname,
        pg_get_constraintdef(oid)), (SELECT ' OFF' FROM pg_trigger WHERE tgconstraint = pg_constraint.oid
          AND tgenabled IN ('D', 'R') LIMIT 1)),
      format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
      FROM pg_constraint WHERE contype NOT IN ('n', 't')
        AND (conrelid IN (SELECT oid FROM own) OR confrelid = 'todos'::regclass AND confdeltype IN ('a', 'r'))
    UNION ALL SELECT 5, format('index %s', indexrelid::regclass), format('DROP INDEX IF EXISTS %s; %s', indexrelid::regclass,
        replace(pg_get_indexdef(indexrelid, 0, true), ' ONLY ', ' ')),
      CASE WHEN indisunique THEN format('DROP INDEX %s', indexrelid::regclass) END
      FROM own JOIN pg_index ON indrelid = own.oid
      WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
    UNION ALL SELECT 6, format('trigger %s of %s', tgname, name), format('%s; ALTER TABLE %s ENABLE %s TRIGGER %I',
        regexp_replace(pg_get_triggerdef(pg_trigger.oid, true), '^CREATE', 'CREATE OR REPLACE'), name,
        CASE tgenabled WHEN 'A' THEN 'ALWAYS' ELSE tgenabled::text END, tgname),
      format('DROP TRIGGER %I ON %s', tgname, name)
      FROM own JOIN pg_trigger ON tgrelid = own.oid WHERE NOT tgisinternal AND tgenabled <> 'D'
    UNION ALL SELECT 7, format('rule %s of %s', rulename, name), '', format('DROP RULE %I ON %s', rulename, name)
      FROM own JOIN pg_rewrite ON ev_class = own.oid WHERE ev_enabled <> 'D'
    UNION ALL SELECT 8, format('child %s of %s', inhrelid::regclass, name), '',
      format('ALTER TABLE %s NO INHERIT %s', inhrelid::regclass, name)
      FROM own JOIN pg_inherits ON inhparent = own.oid WHERE relkind = 'r'
    UNION ALL SELECT 9, format('replica identity of %s', name), CASE WHEN relreplident IN ('f', 'i')
        OR relreplident = 'd' AND NOT starts_with(relname, 'todo_')
        THEN format('ALTER TABLE %s REPLICA IDENTITY FULL', name) ELSE '' END, NULL
      FROM own JOIN pg_class USING (oid)
  )
  SELECT name, make, remove FROM parts ORDER BY place, name`;

/**
 * The parts of a list that the migrations make otherwise, and parts that they do not make and that may do harm. They make a
 * new list, which goes with its transaction: a role that lacks a right for one compares nothing.
 */
export async function compareDefinitions(
  connection: PostgresConnection,
  version: number,
): Promise<Inspection> {
  if (version > MIGRATIONS.version)
    return { facts: { definitions: 'not compared: they are newer' }, faults: [] };
  try {
    return { facts: { definitions: 'compared' }, faults: await connection.transaction(faultsBy, 'ROLLBACK') };
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const definitions = `not compared: ${messageOf(error)}`;
    const faults = hasCode(error, INSUFFICIENT_PRIVILEGE) ? [] : [`its definitions were ${definitions}`];
    return { facts: { definitions }, faults };
  }
}

async function faultsBy(ask: Ask): Promise<readonly string[]> {
  await ask('SET LOCAL quote_all_identifiers = off');
  const parts = await ask<Part>(PARTS);
  for (const sql of [MAKE_SCHEMA, MAKE_VERSION, ...MIGRATIONS.from(0)]) await ask(sql);
  const wanted = await ask<Part>(PARTS);
  const found = new Map(parts.map(({ name, make }) => [name, make]));
  const faults = wanted.flatMap(({ name, make }) => {
    const there = found.get(name);
    found.delete(name);
    const remedy = make.replace(PATH, () => PATH.exec(there ?? '')?.[0] ?? '');
    return there === remedy ? [] : `its ${name} is missing or changed: ${remedy}`;
  });
  const others = parts.filter(({ name, remove }) => found.has(name) && remove !== null);
  return [
    ...faults,
    ...others.map(
      ({ name, remove }) => `the ${name} is of others, and may change or refuse what is written: ${remove}`,
    ),
  ];
}
