// A process on a disk that can fail (`disk.c`): it restores the same files again and again, and each time another step
// fails, until none is left. It prints each step, and what the restore says.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Restore } from '../../src/storage/sqlite/restore.ts';

/** Of the files to begin with, of those to work on, and the backup; `+` when all later steps fail too. */
const [before = '', folder = '', backup = '', lasting = ''] = process.argv.slice(2);
const { DISK_FAILING: failing = '' } = process.env;
const path = join(folder, 'todos.db');

/** The highest id that counts as given out after a restore, above those in the backup. */
const HIGHEST = 42;

for (let step = 1; ; step += 1) {
  mkdirSync(folder);
  cpSync(before, folder, { recursive: true });
  writeFileSync(failing, `${step}${lasting}`);
  const error = await restore();
  const failed = readFileSync(failing, 'utf8');
  rmSync(failing);
  if (failed === `${step}${lasting}`) break;
  const context = `step ${step}, a ${failed}: ${error?.message}`;
  console.log(context);
  if (error === undefined) checkDone(context);
  else if (error.message.includes('nobody knows')) checkUnknown(error.message, context);
  else checkUndone(context);
  rmSync(folder, { recursive: true });
}

async function restore(): Promise<Error | undefined> {
  try {
    const { old } = await new Restore().run(path, backup, {
      highestOf: () => HIGHEST,
      onProgress: () => {},
      onDeciding: () => {},
      logEvent: () => {},
    });
    if (old !== undefined) assert.ok(existsSync(old.path));
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    assert.ok(['StoreUnavailable', 'OutcomeUnknown', 'OperatorError'].includes(error.name), error);
    return error;
  }
}

/** The title of the one todo; undefined where there is no database. SQLite would throw away a log beside none. */
function titleOf(file: string): unknown {
  if (!existsSync(file) || !readFileSync(file, 'latin1').startsWith('SQLite format 3')) return undefined;
  using database = new DatabaseSync(file);
  return database.prepare('SELECT title FROM todos').get()?.title;
}

function bytesIn(of: string): ReadonlyMap<string, string> {
  return new Map(readdirSync(of).map((name) => [name, readFileSync(join(of, name), 'base64')]));
}

/** Names of files beside the database that a restore has made. */
function made(): readonly string[] {
  return readdirSync(folder).filter((name) => /^todos\.db\.2\d{3}-/.test(name) || name.endsWith('.partial'));
}

function checkDone(context: string): void {
  assert.equal(titleOf(path), 'saved', context);
  using database = new DatabaseSync(path);
  const { seq } = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'todos'").get() ?? {};
  assert.equal(seq, HIGHEST, context);
}

function checkUndone(context: string): void {
  const now = bytesIn(folder);
  const wanted = bytesIn(before);
  // A log that SQLite can use may have come into the database.
  const title = titleOf(join(before, 'todos.db'));
  if (title !== undefined) assert.equal(titleOf(path), title, context);
  else for (const [name, bytes] of wanted) assert.equal(now.get(name), bytes, `${context}: ${name}`);
  if (lasting === '') assert.deepEqual(made(), [], context);
}

function checkUnknown(message: string, context: string): void {
  const title = titleOf(path);
  const old = titleOf(join(before, 'todos.db'));
  assert.ok(title === 'saved' || title === old, context);
  if (!existsSync(join(before, 'todos.db'))) return;
  const [, kept = ''] = /The old database is (.+)$/.exec(message) ?? [];
  assert.ok(existsSync(kept), context);
  assert.equal(titleOf(kept), old, context);
  if (lasting !== '') return;
  assert.deepEqual(
    made().filter((name) => name.endsWith('.partial')),
    [],
    context,
  );
}
