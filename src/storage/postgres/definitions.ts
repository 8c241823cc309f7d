import { randomBytes } from 'node:crypto';
import { DatabaseError } from 'pg';
import { messageOf } from '../../lib/errors.ts';
import { comparedWith, type Inspection } from '../maintenance.ts';
import { hasCode, INSUFFICIENT_PRIVILEGE } from './error.ts';
import type { Ask, PostgresConnection } from './postgres-connection.ts';
import { OWN_TABLES } from './requirements.ts';
import { MAKE_VERSION, MIGRATIONS } from './schema.ts';
import { IN_TRANSACTION } from './transaction.ts';

/** A part of a list, by the name that it has in every list. */
interface Part {
  readonly name: string;
  readonly definition: string;
  /** What one that no migration makes may do to a write: refuse or change it, or fail to compute a value of it. */
  readonly effect: 'refuses' | 'computes' | null;
}

// A name has its schema where the search path does not lead to it, and that of a function always. The search path of a
// function is looked at by itself (`unmet-requirements.ts`). Constraints "n" are NOT NULL, from PostgreSQL 18 on. Tables
// of which the name begins with "todo_" have no primary key, which is the replica identity of the others.
const PARTS = `WITH own AS MATERIALIZED (
    SELECT oid, oid::regclass AS name, relkind FROM pg_class WHERE oid = ANY (${OWN_TABLES}::regclass[])
  ), parts (name, definition, effect) AS (
    SELECT format('function %s', oid::regprocedure), regexp_replace(regexp_replace(
        substr(pg_get_functiondef(oid), length('CREATE OR REPLACE FUNCTION ' || pronamespace::regnamespace || '.')),
        ' SET search_path TO [^\\n]*', ''), '[[:space:]]+', ' ', 'g'), NULL::text
      FROM pg_proc WHERE starts_with(proname, 'todo_') AND prokind = 'f'
        AND pronamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'todos'::regclass)
    UNION ALL SELECT format('column %s.%I', name, attname), ROW(atttypid, atttypmod, attcollation, attnotnull,
        attgenerated <> '', attname <> 'id' AND attidentity = 'a',
        (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum AND attname <> 'id'),
        (SELECT ROW(seqincrement, seqmin, seqmax, seqcycle) FROM pg_sequence
          WHERE seqrelid = pg_get_serial_sequence(name::text, attname)::regclass))::text,
      CASE WHEN attgenerated <> '' THEN 'computes' WHEN attnotnull AND NOT atthasdef AND attidentity = '' THEN 'refuses' END
      FROM own JOIN pg_attribute ON attrelid = own.oid
      WHERE attnum > 0 AND NOT attisdropped
    UNION ALL SELECT format('constraint %s of %s', conname, conrelid::regclass), concat(pg_get_constraintdef(oid),
        (SELECT ' OFF' FROM pg_trigger WHERE tgconstraint = pg_constraint.oid AND tgenabled IN ('D', 'R') LIMIT 1)), 'refuses'
      FROM pg_constraint WHERE contype NOT IN ('n', 't')
        AND (conrelid IN (SELECT oid FROM own) OR confrelid = 'todos'::regclass AND confdeltype IN ('a', 'r'))
    UNION ALL SELECT format('index %s', indexrelid::regclass),
        replace(pg_get_indexdef(indexrelid, 0, true), ' ONLY ', ' '),
        CASE WHEN indisunique THEN 'refuses' WHEN coalesce(indexprs, indpred) IS NOT NULL THEN 'computes' END
      FROM own JOIN pg_index ON indrelid = own.oid
      WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
    UNION ALL SELECT format('trigger %s of %s', tgname, name), pg_get_triggerdef(pg_trigger.oid, true), 'refuses'
      FROM own JOIN pg_trigger ON tgrelid = own.oid WHERE NOT tgisinternal AND tgenabled <> 'D'
    UNION ALL SELECT format('rule %s of %s', rulename, name), '', 'refuses'
      FROM own JOIN pg_rewrite ON ev_class = own.oid WHERE ev_enabled <> 'D'
    UNION ALL SELECT format('child %s of %s (ALTER TABLE %1$s NO INHERIT %2$s takes its %2$s out of the list)',
        inhrelid::regclass, name), '', 'refuses'
      FROM own JOIN pg_inherits ON inhparent = own.oid WHERE relkind = 'r'
    UNION ALL SELECT format('replica identity of %s', name),
        (relreplident IN ('f', 'i') OR relreplident = 'd' AND NOT starts_with(relname, 'todo_'))::text, NULL
      FROM own JOIN pg_class USING (oid)
  )
  SELECT name, definition, effect FROM parts ORDER BY name`;

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
    return await connection.transaction(compare, 'ROLLBACK');
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const definitions = `not compared: ${messageOf(error)}`;
    const faults = hasCode(error, INSUFFICIENT_PRIVILEGE) ? [] : [`its definitions were ${definitions}`];
    return { facts: { definitions }, faults };
  }
}

async function compare(ask: Ask): Promise<Inspection> {
  await ask('SET LOCAL quote_all_identifiers = off');
  const parts = await ask<Part>(PARTS);
  const schema = `todo_service_${randomBytes(6).toString('hex')}`;
  await ask(`${IN_TRANSACTION}CREATE SCHEMA ${schema}; SET LOCAL search_path = ${schema}`);
  for (const sql of [MAKE_VERSION, ...MIGRATIONS.from(0)]) await ask(sql);
  const wanted = await ask<Part>(PARTS);
  const found = new Map(parts.map(({ name, definition }) => [name, definition]));
  const differing = wanted.filter(({ name, definition }) => found.get(name) !== definition);
  const own = new Set(wanted.map(({ name }) => name));
  const others = Object.groupBy(
    parts.filter(({ name }) => !own.has(name)),
    ({ effect }) => effect ?? 'none',
  );
  const faults = [
    ...differing.map(({ name }) => `its ${name} is missing or changed`),
    ...(others.refuses ?? []).map(
      ({ name }) => `the ${name} is of others, and may change or refuse what is written`,
    ),
  ];
  return { facts: comparedWith((others.computes ?? []).map(({ name }) => name)), faults };
}
