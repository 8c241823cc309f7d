import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createKey } from '../../src/shared-list/create-keys.ts';
import type { TodoStore } from '../../src/shared-list/store.ts';
import * as postgres from '../../src/storage/postgres/transfer.ts';
import { openSqliteMaintenance } from '../../src/storage/sqlite/maintenance.ts';
import * as sqlite from '../../src/storage/sqlite/transfer.ts';
import type { ExportSource, ImportTarget } from '../../src/storage/transfer/contents.ts';
import { readExport } from '../../src/storage/transfer/read-export.ts';
import { exportParts } from '../../src/storage/transfer/write-export.ts';
import { todo } from '../support/todo.ts';
import { openPatient } from './postgres-pool.ts';
import { randomFrom } from './random.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { listed, newTodo, replacement } from './todos.ts';

/** Kinds of characters, of which the titles are made. */
const CHARACTERS = ['a', ' ', '"', '\\', '\n', '\u0001', 'é', '\u2028', '\u{1F95B}', '\ufffd', '{', 'NULL'];

/** Any todos, deletions, categories and keys of a seed, in a SQLite file. */
async function fill(path: string, seed: number): Promise<readonly string[]> {
  const random = randomFrom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  await using store = await openSqliteStore(path);
  await using operator = openSqliteMaintenance(path);
  for (let count = below(4); count > 0; count -= 1) await operator.addCategory(`Category ${count}\u{1F331}`);
  const categories = (await operator.listCategories()).length;
  const title = () =>
    `x${Array.from({ length: below(60) }, () => CHARACTERS[below(8)] ?? '').join('')}`.slice(0, 100);
  const keys: string[] = [];
  for (let count = below(60); count > 0; count -= 1) {
    const todo = newTodo(title(), 1 + below(categories));
    const key = `key-${count}`;
    const once =
      random() < 0.3 ? { ...createKey(['issuer', 'subject'], key, todo), patienceMs: 100 } : undefined;
    await store.add(todo, once);
    if (once !== undefined) keys.push(JSON.stringify({ todo, once }));
    const other = 1 + below(60);
    if (random() < 0.3) await store.remove(other);
    if (random() < 0.3) {
      const { title: text, categoryId } = newTodo(title(), 1 + below(categories));
      await store.replace(other, replacement(text, random() < 0.5, categoryId));
    }
  }
  return keys;
}

async function move(source: ExportSource, target: ImportTarget): Promise<string> {
  await using _source = source;
  await using _target = target;
  let text = '';
  for await (const part of exportParts(source)) text += part.text;
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text);
  }
  await target.commit(await readExport(bytes(), (rows) => target.add(rows)));
  return text;
}

/** What replays of all keys answer, and which id comes next. */
async function answersOf(store: TodoStore, keys: readonly string[]): Promise<unknown> {
  await using owned = store;
  const list = await listed(owned);
  const tag = (await owned.list()).etag;
  const replays = [];
  for (const key of keys) {
    const { todo, once } = JSON.parse(key);
    replays.push(await owned.add(todo, once));
  }
  return { list, tag, replays, next: await owned.add(newTodo('next', 1)) };
}

/**
 * Moves a database of this seed from SQLite to PostgreSQL and back: the same export, list, tag, categories, replays of
 * keys and next id everywhere.
 *
 * @param path Of a SQLite file that is not there; another one gets a suffix.
 * @param url Of an empty database.
 */
export async function moveThereAndBack(seed: number, path: string, url: string): Promise<void> {
  const keys = await fill(path, seed);
  const back = `${path}.back.db`;
  const first = await move(await sqlite.openExport(path), await postgres.openImport(url));
  const second = await move(await postgres.openExport(url), await sqlite.openImport(back, () => {}));
  assert.equal(second, first, `seed ${seed}`);
  const answers = await answersOf(await openSqliteStore(path), keys);
  assert.deepEqual(
    await answersOf(await openPatient(url, { connections: 1 }), keys),
    answers,
    `seed ${seed}`,
  );
  assert.deepEqual(await answersOf(await openSqliteStore(back), keys), answers, `seed ${seed}`);
}

/** The text of an export of todos with these ids, all of category 1. */
export function exportOf(ids: readonly number[], titleOf = (id: number) => `Todo ${id}`): string {
  const lines = [
    { format: 'todo-service-export', version: 1, categories: 2, todos: ids.length },
    { id: 1, name: 'Work' },
    { id: 2, name: 'Life' },
    ...ids.map((id) => todo(id, titleOf(id))),
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return `${text}{"sha256":"${createHash('sha256').update(text).digest('hex')}"}\n`;
}

/** The ids from 1 to this one. */
export const idsTo = (highest: number): number[] => Array.from({ length: highest }, (_, index) => index + 1);
