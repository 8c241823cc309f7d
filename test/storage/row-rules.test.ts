import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { openPostgresMaintenance } from '../../src/storage/postgres/maintenance.ts';
import * as postgres from '../../src/storage/postgres/transfer.ts';
import { openSqliteMaintenance } from '../../src/storage/sqlite/maintenance.ts';
import { MIGRATIONS } from '../../src/storage/sqlite/schema.ts';
import * as sqlite from '../../src/storage/sqlite/transfer.ts';
import type { ExportSource } from '../../src/storage/transfer/contents.ts';
import { readExport } from '../../src/storage/transfer/read-export.ts';
import { exportParts } from '../../src/storage/transfer/write-export.ts';
import { cases } from '../support/cases.ts';
import { codePoint } from '../support/code-point.ts';
import { execute, newPath } from './new-files.ts';
import { PostgresServer } from './postgres-server.ts';

const server = await PostgresServer.startForAll();

/** A value, or SQL of one that no line of an export can have. */
type Cell = string | number | boolean | { readonly odd: string };
type Cells = Readonly<Record<string, Cell>>;
type Kind = 'categories' | 'todos' | 'idempotency_keys';
type Rows = Readonly<Record<Kind, readonly Cells[]>>;

const KINDS = ['categories', 'todos', 'idempotency_keys'] as const;

interface Engine {
  /** SQL of cells that are odd, by the type of their column. */
  readonly odd: Readonly<Record<'text' | 'integer' | 'boolean' | 'at', readonly string[]>>;
  sqlOf(cell: string | boolean): string;
  /** Makes a database without constraints. */
  make(): Promise<string>;
  execute(database: string, sql: string): unknown;
  openMaintenance(database: string): ReturnType<typeof openPostgresMaintenance>;
  openExport(database: string): Promise<ExportSource>;
}

const ENGINES: Readonly<Record<string, Engine>> = {
  SQLite: {
    odd: {
      text: ["CAST(x'436166e9' AS text)", "CAST(x'61eda080' AS text)", "x'61'", "'a' || char(0)", 'NULL'],
      integer: ['NULL', '9223372036854775807', '1.5', "'x'", "x'01'", '2147483648'],
      boolean: ['2', '-1', 'NULL', "'x'"],
      at: ["'x'", '1e300', '253402300800', '9223372036854775807'],
    },
    sqlOf: (cell) =>
      typeof cell === 'string' ? `CAST(x'${Buffer.from(cell).toString('hex')}' AS text)` : `${Number(cell)}`,
    async make() {
      const path = newPath();
      const loose = MIGRATIONS.from(0)
        .join('')
        .replaceAll(/ STRICT, | STRICT|NOT NULL/g, ' ');
      execute(
        path,
        `${loose.replace(' WITHOUT ROWID', '')} INSERT INTO todo_schema VALUES (${MIGRATIONS.oldestProgram});
          PRAGMA application_id = 0x746f646f; PRAGMA user_version = ${MIGRATIONS.version}`,
      );
      return path;
    },
    execute: (path, sql) => execute(path, `PRAGMA ignore_check_constraints = ON; ${sql}`),
    openMaintenance: async (path) => openSqliteMaintenance(path),
    openExport: sqlite.openExport,
  },
  PostgreSQL: {
    odd: { text: ['NULL'], integer: ['NULL'], boolean: ['NULL'], at: ["'infinity'", "'12026-01-01'"] },
    sqlOf: (cell) => (typeof cell === 'string' ? `'${cell.replaceAll("'", "''")}'` : `${cell}`),
    async make() {
      const url = await server.makeMigrated();
      await server.execute(
        url,
        `ALTER TABLE todos DROP CONSTRAINT todos_category_id_fkey, DROP CONSTRAINT todos_title_check,
            DROP CONSTRAINT todos_id_check, ALTER title DROP NOT NULL, ALTER done DROP NOT NULL, ALTER category_id DROP NOT NULL;
          ALTER TABLE categories DROP CONSTRAINT categories_id_check, ALTER name DROP NOT NULL;
          ALTER TABLE idempotency_keys ALTER body DROP NOT NULL, ALTER todo_id DROP NOT NULL`,
      );
      return url;
    },
    execute: (url, sql) =>
      server.execute(url, sql.replaceAll(') VALUES', ') OVERRIDING SYSTEM VALUE VALUES')),
    openMaintenance: openPostgresMaintenance,
    openExport: postgres.openExport,
  },
};

const text = fc.oneof(
  fc.string({ unit: codePoint, minLength: 1, maxLength: 8 }).filter((each) => !each.includes('\0')),
  fc.constantFrom(
    '',
    ' ',
    '\u00a0',
    '\u200b',
    ' a',
    'a\n',
    'a\u2028b',
    '\ufeffa',
    '\ufffd',
    "'",
    'a\tb',
    '\u0085',
  ),
  fc
    .tuple(fc.constantFrom('x', 'é', '\u{1F600}'), fc.constantFrom(99, 100, 101, 9_000))
    .map(([character, length]) => character.repeat(length)),
);
const plain = fc.constantFrom('a', 'Work', 'b c');
const digest = fc.nat(8).map((digit) => `${digit}`.repeat(43));
const anId = fc.integer({ min: 1, max: 5 });
const outside = fc.constantFrom(0, -5, -2_147_483_648);

/** Cells that are mostly good, or all of them. */
type Mostly = (
  good: fc.Arbitrary<Cell>,
  bad: fc.Arbitrary<Cell>,
  odd?: readonly string[],
) => fc.Arbitrary<Cell>;

const mostly: Mostly = (good, bad, odd = []) =>
  fc.oneof(
    { weight: 12, arbitrary: good },
    { weight: 1, arbitrary: bad },
    ...odd.map((sql) => ({ weight: 1, arbitrary: fc.constant({ odd: sql }) })),
  );

/** Half of the databases are sound: their first category is 1, which all todos have. */
function databasesFor(engine: Engine): fc.Arbitrary<Rows> {
  const sound = rowsFor(engine, (good) => good).map(({ categories, ...others }) => ({
    categories: [{ id: 1, name: 'a' }, ...categories.filter(({ id }) => id !== 1)],
    ...others,
  }));
  return fc.oneof(sound, rowsFor(engine, mostly));
}

function rowsFor({ odd }: Engine, mostly: Mostly): fc.Arbitrary<Rows> {
  const unique = (cells: Readonly<Record<string, fc.Arbitrary<Cell>>>) =>
    fc.uniqueArray(fc.record(cells), { maxLength: 5, selector: (row) => Object.values(row)[0] });
  return fc.record({
    categories: unique({ id: mostly(anId, outside), name: mostly(plain, text, odd.text) }),
    todos: unique({
      id: mostly(anId, outside),
      title: mostly(plain, text, odd.text),
      done: mostly(fc.boolean(), fc.boolean(), odd.boolean),
      categoryId: mostly(fc.constant(1), outside, odd.integer),
    }),
    idempotency_keys: unique({
      key: mostly(digest, fc.constantFrom('', 'short', 'é'.repeat(43))),
      body: mostly(digest, text, odd.text),
      todoId: mostly(anId, outside, odd.integer),
      at: mostly(fc.constant('9999-12-31T23:59:59Z'), fc.constant('2200-01-01T00:00:00Z'), odd.at),
    }),
  });
}

const COLUMNS = {
  categories: 'id, name',
  todos: 'id, title, done, category_id',
  idempotency_keys: 'key, body, todo_id, at',
};

const idOf = (cells: Cells) => Object.values(cells)[0] as string | number;

const isOdd = (cells: Cells) => Object.values(cells).some((cell) => typeof cell === 'object');

function insert(engine: Engine, kind: Kind, cells: Cells): string {
  const values = Object.entries(cells).map(([name, cell]) => {
    if (typeof cell === 'object') return cell.odd;
    if (name === 'at' && engine.odd.text.length > 1) return `unixepoch('${cell}')`;
    return typeof cell === 'number' ? `${cell}` : engine.sqlOf(cell);
  });
  return `INSERT INTO ${kind} (${COLUMNS[kind]}) VALUES (${values});`;
}

/** Whether a whole export with this row, and the categories that there are, is read to its end. */
async function isRead(kind: Kind, cells: Cells, { categories }: Rows): Promise<boolean> {
  const ids = [...new Set(categories.map(({ id }) => Number(id)))].filter((id) => id > 0).sort();
  const known = kind === 'categories' ? [] : ids.map((id) => ({ id, name: 'known' }));
  const counts = { categories: known.length, todos: 0, keys: 0 };
  counts[kind === 'idempotency_keys' ? 'keys' : kind] += 1;
  const lines = [{ format: 'todo-service-export', version: 1, ...counts }, ...known, cells];
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const sha256 = createHash('sha256').update(body).digest('hex');
  const whole = Buffer.from(`${body}{"sha256":"${sha256}"}\n`);
  return readExport(chunksOf([whole]), async () => {}).then(
    () => true,
    () => false,
  );
}

async function* chunksOf(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}

for (const [name, engine] of Object.entries(ENGINES)) {
  test(`${name}: of any rows check names those that an import refuses, and whatever is exported is imported [E1; E4]`, async () => {
    const database = await engine.make();
    let sound = 0;
    const judge = async (rows: Rows) => {
      const all = KINDS.flatMap((kind) => rows[kind].map((cells) => ({ kind, cells })));
      const statements = all.map(({ kind, cells }) => insert(engine, kind, cells));
      await engine.execute(
        database,
        `DELETE FROM todos; DELETE FROM categories; DELETE FROM idempotency_keys; ${statements.join(' ')}`,
      );
      const wanted: string[] = [];
      for (const { kind, cells } of all) {
        const id = idOf(cells);
        if (isOdd(cells) || !(await isRead(kind, cells, rows)))
          wanted.push(
            `row ${typeof id === 'number' ? id : JSON.stringify(id).replaceAll('é', '\\u00e9')} of ${kind}`,
          );
      }
      await using maintenance = await engine.openMaintenance(database);
      const { faults } = await maintenance.inspect();
      const named = faults.flatMap((fault) => /^row .* of \w+(?=: "\w+" must )/.exec(fault)?.[0] ?? []);
      assert.deepEqual(named.sort(), wanted.sort());
      await using source = await engine.openExport(database);
      const exporting = Array.fromAsync(exportParts(source), ({ text }) => Buffer.from(text));
      if (wanted.length > 0) return await assert.rejects(exporting, { name: 'RowsRefused' });
      sound += 1;
      await using target = await sqlite.openImport(newPath(), () => {});
      await target.commit(await readExport(chunksOf(await exporting), (part) => target.add(part)));
    };
    await fc.assert(fc.asyncProperty(databasesFor(engine), judge), { numRuns: cases(40, 400) });
    assert.ok(sound > 3, `${sound} databases were sound`);
  });
}
