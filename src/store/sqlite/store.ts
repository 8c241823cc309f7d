import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { ListWish } from '../list/version.ts';
import { IdsExhausted, type StoreSizes, type TodoStore } from '../store.ts';
import { represent } from '../todo.ts';
import type { Outcomes } from './batch.ts';
import type { Known, TodoCache } from './cache.ts';
import { errorOf, failureBy } from './error.ts';
import type { KnownFile } from './file.ts';
import type { FileHealth } from './health.ts';
import type { SqliteList } from './list.ts';
import { prepareFind } from './row.ts';
import type { Writer } from './writer.ts';

/** The highest that was given out. By hand somebody may set back what SQLite keeps of it. */
const HIGHEST_ID = `SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'todos'), 0),
  coalesce((SELECT max(id) FROM todos), 0)) AS highest`;

/** For a write whose outcome is that of the store. */
const unchanged = <T>(outcome: T): T => outcome;

/** What a store is made of. */
interface Resources {
  readonly file: KnownFile;
  /** Reads one todo. */
  readonly reader: DatabaseSync;
  readonly cache: TodoCache;
  readonly list: SqliteList;
  readonly writer: Writer;
  readonly health: FileHealth;
}

/**
 * The list in one SQLite file: reads on this thread, writes on another.
 *
 * @param dispose Ends what the store is made of.
 */
export function sqliteStore(
  { file, reader, cache, list, writer, health }: Resources,
  dispose: () => Promise<void>,
): TodoStore {
  const findRow = prepareFind(reader);
  const highestId = reader.prepare(HIGHEST_ID);

  function read<T>(statement: () => T): T {
    try {
      return statement();
    } catch (error) {
      const failure = failureBy(error);
      health.note(failure);
      throw failure.failure === 'error' ? error : errorOf(failure, error);
    }
  }

  function readRow(id: number): Known {
    if (cache.wantsHighest) cache.setHighest(Number(highestId.get()?.highest));
    const todo = findRow(id);
    const known = todo === undefined ? 'missing' : represent(todo);
    cache.set(id, known);
    return known;
  }

  return {
    list(wish: ListWish = { gzip: false }) {
      health.assertUsable();
      const version = list.current();
      return version instanceof Promise ? version.then((built) => built.select(wish)) : version.select(wish);
    },

    find(id) {
      health.assertUsable();
      const known = cache.get(id) ?? read(() => readRow(id));
      return known === 'missing' ? undefined : known;
    },

    /** Writes have one order: a create waits for its turn, never for a key. */
    add(todo, once, mark) {
      const represented = (outcome: Outcomes['add']) => {
        if (outcome === 'ids-exhausted') throw new IdsExhausted();
        if (typeof outcome === 'string') return outcome;
        if (typeof outcome === 'object')
          return { repeated: represent({ id: outcome.repeated, done: false, ...todo }) };
        return represent({ id: outcome, done: false, ...todo });
      };
      return writer.write({ kind: 'add', once, ...todo }, represented, mark);
    },

    replace: (id, replacement, preconditions = {}, mark) =>
      writer.write({ kind: 'replace', id, preconditions, ...replacement }, unchanged, mark),

    remove: (id, preconditions = {}, mark) =>
      writer.write({ kind: 'remove', id, preconditions }, unchanged, mark),

    async check() {
      health.assertUsable();
      read(() => highestId.get());
      await writer.probe();
    },

    sizes: {
      get database() {
        return [...sizeOf(file.path, 'main'), ...sizeOf(`${file.path}-wal`, 'wal')];
      },
      get list() {
        return list.bytes;
      },
      get cache() {
        return cache.bytes;
      },
    },

    [Symbol.asyncDispose]: dispose,
  };
}

/** What is not known, for whatever reason, is missing: `check` says why. */
function sizeOf(path: string, file: 'main' | 'wal'): StoreSizes['database'] {
  try {
    return [{ file, bytes: statSync(path).size }];
  } catch {
    return [];
  }
}
