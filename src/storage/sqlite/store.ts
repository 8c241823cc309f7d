import { statSync } from 'node:fs';
import { orUndefined } from '../../lib/errors.ts';
import { andThen } from '../../lib/promises.ts';
import { represent } from '../../shared-list/members.ts';
import type { StoreSizes, TodoStore } from '../../shared-list/store.ts';
import type { ServedDatabase } from '../settings.ts';
import { openTodoCache } from './cache.ts';
import { asNotOpened, errorOf, failureBy } from './error.ts';
import { knownFile } from './file.ts';
import { uncertainLocksOf } from './file-system.ts';
import { DatabaseHealth } from './health.ts';
import { SqliteList } from './list.ts';
import { type OwnedOptions, openOwned } from './owned-database.ts';
import { prepareFind } from './row.ts';
import { MIGRATIONS } from './schema.ts';
import { unmetRequirementOf } from './unmet-requirement.ts';
import { Writer } from './writer.ts';

type SqliteOptions = OwnedOptions & Pick<ServedDatabase, 'cacheBytes'>;

/**
 * Opens the todo list in the SQLite file at `path`, and makes file and folder when they are missing (0600, 0700; existing
 * ones keep their mode). This process is its only server until the store is disposed. Single todos are read on this
 * thread, and the list on a second; a third one writes.
 *
 * @throws {OperatorError} with one line for people.
 */
export async function openSqliteStore(path: string, options: SqliteOptions): Promise<TodoStore> {
  const { findRow, cache, list, writer, health, opened } = await openParts(path, options);

  function read<T>(statement: () => T): T {
    try {
      return statement();
    } catch (error) {
      const failure = health.note(failureBy(error));
      throw failure.failure === 'error' ? error : errorOf(failure, error);
    }
  }

  function readRow(id: number) {
    const row = findRow(id);
    if (row === undefined) return undefined;
    const todo = represent(row);
    cache.set(todo);
    return todo;
  }

  return {
    list(...wanted) {
      health.assertUsable();
      return andThen(list.current(), (version) => version.select(...wanted));
    },

    find(id) {
      health.assertUsable();
      return cache.get(id) ?? read(() => readRow(id));
    },

    /** Writes have one order: a create waits for its turn, never for a key. */
    add: (todo, once, onCommitted) => writer.write({ kind: 'add', todo, once }, onCommitted),

    replace: (id, todo, preconditions = {}, onCommitted) =>
      writer.write({ kind: 'replace', id, todo, preconditions }, onCommitted),

    remove: (id, preconditions = {}, onCommitted) =>
      writer.write({ kind: 'remove', id, preconditions }, onCommitted),

    async check() {
      health.check();
      read(() => findRow(1));
      await list.check();
      await writer.probe();
    },

    sizes: () => ({
      database: [...sizeOf(health.file.path, 'main'), ...sizeOf(`${health.file.path}-wal`, 'wal')],
      list: list.bytes,
      cache: cache.bytes,
    }),

    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function openParts(path: string, options: SqliteOptions) {
  const { logEvent, cacheBytes } = options;
  await using parts = new AsyncDisposableStack();
  try {
    const owned = parts.use(await openOwned(path, options));
    const { database: reader, versions } = owned;
    const fileSystem = uncertainLocksOf(owned.path);
    if (fileSystem !== undefined) logEvent({ event: 'locks-uncertain', fileSystem, path: owned.path });
    if (versions.from !== versions.to) logEvent({ event: 'schema-migrated', ...versions });
    const own = MIGRATIONS.version;
    if (versions.to > own) logEvent({ event: 'schema-newer', version: versions.to, own });
    // The main thread reads with it, so it must wait for no lock: in a write-ahead log a read has none to wait for. The
    // first read makes the files beside the database, which `knownFile` looks at.
    reader.exec('PRAGMA query_only = ON; PRAGMA busy_timeout = 0; SELECT 1 FROM sqlite_schema LIMIT 1');
    const unmet = unmetRequirementOf(reader);
    if (unmet !== undefined) throw new Error(unmet.message);
    const findRow = prepareFind(reader);
    const health = parts.use(new DatabaseHealth(knownFile(path, owned.path), reader, logEvent));
    const writer = parts.use(
      new Writer(health, (changed) => {
        cache.forget(changed);
        list.forget(changed);
        if (changed === 'all') health.lookAtSchema();
      }),
    );
    const cache = openTodoCache(cacheBytes, writer.underWay.ids);
    const list = parts.use(new SqliteList(health, writer.underWay));
    return { findRow, cache, list, writer, health, opened: parts.move() };
  } catch (error) {
    throw asNotOpened(path, error);
  }
}

/** Sizes of a file. An unknown size is left out; `check` has the reason. */
function sizeOf(path: string, file: 'main' | 'wal'): StoreSizes['database'] {
  const bytes = orUndefined(() => statSync(path).size);
  return bytes === undefined ? [] : [{ file, bytes }];
}
