import type { Ask, PostgresConnection } from './postgres-connection.ts';
import { type Requirement, TO_SERVE, USED_IDS } from './requirements.ts';

/** An unmet requirement, or one of a sequence. */
interface Found extends Requirement {
  /** The role that needs the right, as SQL writes it. */
  readonly role: string;
  /** As SQL writes it; null when there is none, and for every other kind. */
  readonly sequence: string | null;
  /** The sentence that it is not there, for people, or null. */
  readonly missing: string | null;
  /** The sentence that it has another type, or is another one, for people, or null. */
  readonly wrong: string | null;
  readonly denied: boolean;
  readonly hidden: boolean;
}

/** A sequence that would give out ids again (contract D12). */
interface Behind {
  /** For people. */
  readonly fault: string;
  /** As SQL writes it. */
  readonly sequence: string;
  /** The highest id that is known. */
  readonly highest: number;
}

type Unmet = Awaited<ReturnType<typeof findUnmet>>;

/** Names of schemas, in order, one a row: of the search path that a function has as its setting, or else the session. */
const IN_PATH = `regexp_matches(coalesce(
      (SELECT substr(setting, 13) FROM unnest(proconfig) AS setting WHERE setting LIKE 'search\\_path=%'),
      current_setting('search_path')), '"((?:[^"]|"")*)"|([^",[:space:]]+)', 'g')`;

/** The table that a function finds, whoever calls it. In a schema that its role may not use, it finds none. */
const FOUND_BY_PATH = `(SELECT pg_class.oid
    FROM pg_proc CROSS JOIN ${IN_PATH} WITH ORDINALITY AS path (name, place)
      CROSS JOIN pg_get_userbyid(CASE WHEN prosecdef THEN proowner ELSE role END) AS doer
      JOIN pg_namespace ON nspname = coalesce(nullif(replace(path.name[1], '""', '"'), '$user'),
        nullif(lower(path.name[2] COLLATE "C"), '$user'), doer) AND has_schema_privilege(doer, pg_namespace.oid, 'USAGE')
      JOIN pg_class ON relnamespace = pg_namespace.oid AND relname = part
    WHERE pg_proc.oid = object ORDER BY place LIMIT 1)`;

const ASTRAY = `format('its function %s must find "%s" in the schema of "todos", which is %s, before any other: run '
    '"todo-service migrate"', name, part, home::regnamespace)`;

// A statement that spells a name fails when that is missing, so this one looks names up. A function of rights gives null
// where there is nothing to have a right on, or no right is needed. Inlined, the parts would be planned several times.
const FIND = `WITH needed AS MATERIALIZED (
    SELECT place, kind, name, part, type,
      CASE WHEN by IS NULL THEN caller
        ELSE (SELECT CASE WHEN prosecdef THEN proowner ELSE caller END FROM pg_proc WHERE oid = to_regprocedure(by))
      END AS role,
      CASE WHEN kind IN ('function', 'path') THEN to_regprocedure(name)::oid
        ELSE (SELECT oid FROM pg_class WHERE oid = to_regclass(name) AND relkind IN ('r', 'p')) END AS object,
      CASE WHEN kind = 'sequence' AND EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = to_regclass(name) AND attname = 'id' AND NOT attisdropped
      ) THEN to_regclass(pg_get_serial_sequence(name, 'id')) END AS sequence,
      (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('todos')) AS home
    FROM ROWS FROM (json_to_recordset($1) AS (kind text, name text, part text, type text, by text))
      WITH ORDINALITY AS need (kind, name, part, type, by, place)
      CROSS JOIN (SELECT oid AS caller FROM pg_roles WHERE rolname = current_user) AS asks
  ), looked AS MATERIALIZED (
    SELECT *, CASE kind WHEN 'path' THEN ${FOUND_BY_PATH} END AS finds,
      CASE kind WHEN 'path' THEN (SELECT oid FROM pg_class WHERE relnamespace = home AND relname = part) END AS wanted
    FROM needed
  ), found AS (
    SELECT *, CASE
        WHEN kind = 'function' AND object IS NULL THEN format('its function %s is missing', name)
        WHEN kind = 'table' AND part IS NULL AND to_regclass(name) IS NULL THEN format('its table "%s" is missing', name)
        WHEN object IS NULL THEN NULL
        WHEN kind = 'column' AND NOT EXISTS (
            SELECT FROM pg_attribute WHERE attrelid = object AND attname = part AND NOT attisdropped)
          THEN format('the column "%s" of "%s" is missing', part, name)
        WHEN kind = 'sequence' AND sequence IS NULL THEN format('no sequence gives out the ids of "%s"', name)
        WHEN kind = 'trigger' AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = object AND tgname = part)
          THEN format('its trigger "%s" of "%s" is missing', part, name)
        WHEN kind = 'trigger' AND NOT EXISTS (
            SELECT FROM pg_trigger WHERE tgrelid = object AND tgname = part AND tgenabled = 'A')
          THEN format('its trigger "%2$s" must always be on: ALTER TABLE %1$s ENABLE ALWAYS TRIGGER %2$s', name, part)
        WHEN finds IS NULL AND wanted IS NOT NULL THEN ${ASTRAY}
      END AS missing,
      CASE WHEN finds <> wanted THEN ${ASTRAY}
        WHEN kind = 'table' AND part IS NULL AND object IS NULL AND to_regclass(name) IS NOT NULL
          THEN format('its "%s" must be a table', name)
        ELSE (SELECT format('the column "%s" of "%s" must be %s, received %s', part, name, type, format_type(atttypid, NULL))
          FROM pg_attribute WHERE kind = 'column' AND attrelid = object AND attname = part AND NOT attisdropped
            AND atttypid <> to_regtype(type)) END AS wrong,
      coalesce(CASE kind
        WHEN 'table' THEN NOT has_table_privilege(role, object, part)
        WHEN 'function' THEN NOT has_function_privilege(role, object, part)
        WHEN 'sequence' THEN NOT has_sequence_privilege(role, sequence, part)
      END, false) AS denied,
      EXISTS (SELECT FROM pg_class JOIN pg_roles ON pg_roles.oid = role
        WHERE kind = 'rows' AND pg_class.oid = object AND relrowsecurity AND NOT rolsuper AND NOT rolbypassrls
          AND (relforcerowsecurity OR NOT pg_has_role(role, relowner, 'USAGE'))) AS hidden
    FROM looked
  )
  SELECT kind, name, part, role::regrole::text AS role, sequence::text AS sequence, missing, wrong, denied, hidden
  FROM found WHERE missing IS NOT NULL OR wrong IS NOT NULL OR denied OR hidden OR kind = 'sequence' ORDER BY place`;

/** The unmet requirements. @param taken By table, SQL for the id that its sequence must be above, if that counts. */
export async function findUnmet(
  ask: Ask,
  requirements: readonly Requirement[],
  taken: Readonly<Record<string, string>> = {},
) {
  const found = await ask<Found>({ text: FIND, values: [JSON.stringify(requirements)] });
  const missing = found.flatMap((each) => each.missing ?? []);
  const wrong = found.flatMap((each) => each.wrong ?? []);
  const hidden = whatEndsHiding(found.filter((each) => each.hidden));
  const denied = grants(found.filter((each) => each.denied));
  const behind: Behind[] = [];
  const whole = [...missing, ...wrong, ...hidden].length === 0 && denied === '';
  for (const { name: table, sequence } of whole ? found : []) {
    // The value of a sequence can be read only by its name. The sentence has none of it: each refused create uses up an id,
    // and an outage would have a reason for each look.
    const text = `SELECT $2 AS sequence, highest::float8, format('the sequence of "%s" is behind, and ids up to %s '
        'are taken: run "todo-service migrate"', $1::text, highest) AS fault
      FROM (SELECT last_value + is_called::int AS next, (${taken[table]}) AS highest FROM ${sequence}) AS at
      WHERE next <= highest`;
    if (table in taken) behind.push(...(await ask<Behind>({ text, values: [table, sequence] })));
  }
  return {
    /** Missing parts, for people. */
    missing,
    /** Parts that have another type, or are another one, for people: reads and writes of them are wrong. */
    wrong,
    /** Whether a function does not find its table, which is missing or wrong then. */
    astray: found.some(({ kind }) => kind === 'path'),
    /** Tables with rows that row security hides, for people, with the remedy. */
    hidden,
    /** Missing rights on existing parts, for people, with the statement that grants them. */
    denied: denied === '' ? undefined : `its role lacks rights: ${denied}`,
    /** Read when nothing else is wrong. */
    behind,
  };
}

/** The fault of a schema, for people, or undefined. */
export function faultOf({ missing, wrong, hidden, behind, denied }: Unmet): string | undefined {
  const faults = [...missing, ...wrong, ...hidden, ...behind.map(({ fault }) => fault), denied];
  return faults.filter((fault) => fault !== undefined).join('; ') || undefined;
}

/** The missing rights of the role, and the tables with rows hidden from it, for people, with remedies; or undefined. */
export async function rightsFault(connection: PostgresConnection, requirements = TO_SERVE) {
  const unmet = await findUnmet((statement) => connection.run(statement), requirements);
  return faultOf({ ...unmet, missing: [], wrong: [] });
}

/** The parts of a schema of this version that are missing, denied, or behind all ids that are known. */
export function findAllUnmet(connection: PostgresConnection, requirements = TO_SERVE) {
  // Tombstones and keys may be many.
  return connection.transaction((ask) => findUnmet(ask, requirements, USED_IDS));
}

/** `GRANT SELECT, INSERT ON todos TO role; GRANT …`. */
export function grants(requirements: readonly (Requirement & Partial<Found>)[], otherwise = ''): string {
  const rights = requirements.filter(
    ({ kind, part }) => ['table', 'function', 'sequence'].includes(kind) && part !== undefined,
  );
  const byObject = Object.groupBy(rights, (each) => `${objectOf(each)} TO ${each.role ?? otherwise}`);
  return Object.entries(byObject)
    .map(([object, of = []]) => `GRANT ${of.map(({ part }) => part).join(', ')} ON ${object}`)
    .join('; ');
}

/** A sentence for each role that does not see all rows. */
function whatEndsHiding(hidden: readonly Found[]): readonly string[] {
  return Object.entries(Object.groupBy(hidden, ({ role }) => role)).map(([role, of = []]) => {
    const tables = [...new Set(of.map(({ name }) => name))];
    const alter = tables.map((name) => `ALTER TABLE ${name} DISABLE ROW LEVEL SECURITY`).join('; ');
    const names = tables.map((name) => `"${name}"`).join(', ');
    return `row security would hide rows of ${names} from the role ${role}: ${alter}; or ALTER ROLE ${role} BYPASSRLS`;
  });
}

function objectOf({ kind, name, sequence }: Requirement & Partial<Found>): string {
  if (kind === 'sequence') return `SEQUENCE ${sequence ?? `${name}_id_seq`}`;
  return kind === 'function' ? `FUNCTION ${name}` : name;
}
