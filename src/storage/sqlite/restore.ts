import { constants, createReadStream, existsSync, realpathSync } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import type { LogEvent } from '../../events.ts';
import { nameComplete, newPrivateFile, partialOf } from '../../lib/durable-files.ts';
import { errorCode, messageOf, orUndefined } from '../../lib/errors.ts';
import { OutcomeUnknown, StoreUnavailable } from '../../shared-list/store.ts';
import type { BackupProgress } from '../maintenance.ts';
import type { Counts } from '../transfer/contents.ts';
import { BackupRefused, readExport } from '../transfer/read-export.ts';
import { rowFaults } from '../transfer/write-export.ts';
import { makeDurable } from './durability.ts';
import { asNotOpened, isBusy, isDamage, isOtherFormat, isSyncFailure, NotOurs, resultCode } from './error.ts';
import { sourceOf } from './export-source.ts';
import {
  BUSY_TIMEOUT_MS,
  checkKind,
  checkLength,
  checkWritable,
  existing,
  identityOf,
  ownerFor,
  removeDatabase,
  resolvePath,
} from './file.ts';
import { MAGIC } from './format.ts';
import { copyPages, integrityFaults } from './maintenance.ts';
import { nameDatabase } from './owned-database.ts';
import { lockFile } from './owner-lock.ts';
import { checkOwner, checkReadableSchema, migrate, pragma } from './schema.ts';
import { importInto, openToRead, setHighest } from './transfer.ts';

/** Pages between two checks for a signal: 16 MB. */
const PAGES_OF_STEP = 4_096;

/** The kind of a file, by its first bytes. @throws {BackupRefused} when it cannot be read. */
export async function kindOf(file: string): Promise<'database' | 'export'> {
  try {
    // Opening a named pipe would wait for its writer, and a signal for that.
    const opened = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { buffer, bytesRead } = await opened.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
      return buffer.subarray(0, bytesRead).equals(MAGIC) ? 'database' : 'export';
    } finally {
      // Not `await using`: the files of Yarn's Plug'n'Play cannot be disposed of.
      await opened.close();
    }
  } catch (error) {
    throw new BackupRefused('no-input', messageOf(error), { cause: error });
  }
}

export interface Restored {
  readonly counts: Counts;
  /** Rows of a database file that an import refuses (`rowFaults`). */
  readonly refused?: readonly string[];
  /** The highest id that counts as given out now. */
  readonly highestId: number;
  /** The database before: its present place, and the highest id that it had given out, as far as that can be told. */
  readonly old?: { readonly path: string; readonly highestId?: number | undefined } | undefined;
}

interface RestoreOptions {
  /** The highest id that shall count as given out, by that of the backup. Its exception ends the restore. */
  readonly highestOf: (highestId: number) => number;
  readonly onProgress: (progress: BackupProgress) => void;
  /** Called when the restore is about to be done: it cannot be interrupted from then on. */
  readonly onDeciding: () => void;
  readonly logEvent: LogEvent;
}

/**
 * One restore. A signal may end the process until `onDeciding` is called, after `takeBack`. The old database is complete
 * under another name, then its log goes, then the new one takes its name: `test/commands/restore.test.ts`,
 * `test/long/moving-faults.test.ts`, `test/long/power-cuts.test.ts`.
 */
export class Restore {
  /** Files that this run has made, and removes at its end. */
  readonly #own = new Set<string>();

  /** Removes the files that this run has made beside the database. */
  takeBack(): void {
    for (const path of this.#own) removeDatabase(path);
  }

  /**
   * Replaces a database by a backup or an export. First the backup is copied beside it and checked, then the old database
   * is kept under a dated name, complete. No process serves the database meanwhile.
   *
   * @throws {BackupRefused} for the backup, {OperatorError} for the database (`in-use`: a process serves it), {StoreUnavailable}
   * for the disk: the database is as it was. {OutcomeUnknown} when the disk failed at the commit.
   */
  async run(name: string, file: string, options: RestoreOptions): Promise<Restored> {
    const kind = await kindOf(file);
    const path = pathOf(name);
    if (identityOf(file) === identityOf(path))
      throw new BackupRefused('bad-data', 'it is the database itself');
    try {
      using _lock = await lockFile(path, 0, () => {});
      const staged = this.#makeBeside(path);
      const restored = await stage(kind, file, staged, options);
      return { ...restored, old: await this.#replace(path, staged, options) };
    } catch (error) {
      // Errors of SQLite and the system have codes.
      throw errorCode(error) === undefined ? error : new StoreUnavailable(messageOf(error), { cause: error });
    } finally {
      this.takeBack();
    }
  }

  /** An empty file of this run, with the owner of the database. */
  #makeBeside(database: string): string {
    const partial = partialOf(database);
    this.#own.add(partial);
    newPrivateFile(partial, ownerFor(database));
    return partial;
  }

  async #replace(path: string, staged: string, options: RestoreOptions): Promise<Restored['old']> {
    if (!existsSync(path)) {
      options.onDeciding();
      nameDatabase(staged, path, options.logEvent);
      return undefined;
    }
    const aside = `${path}.${new Date().toISOString().replaceAll(':', '')}`;
    const partial = this.#makeBeside(path);
    // Of any other file SQLite would throw the log away.
    using locked = (await kindOf(path)) === 'database' ? lockOld(path) : undefined;
    let highestId: number | undefined;
    let replace: () => unknown;
    if (locked === undefined) {
      await writeFile(partial, createReadStream(path), { flush: true });
      options.onDeciding();
      const logOf = (suffix: string) => aside + suffix;
      replace = () => nameDatabase(staged, path, () => {}, logOf);
    } else {
      highestId = await copyAside(path, partial, options);
      replace = () => this.#into(path, locked, staged, options);
    }
    nameComplete(partial, aside);
    this.#own.add(aside);
    try {
      await replace();
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error;
      this.#own.delete(aside);
      throw new OutcomeUnknown(`${error.message}. The old database is ${aside}`, { cause: error });
    }
    this.#own.delete(aside);
    return { path: aside, highestId };
  }

  /**
   * One transaction of SQLite: the file keeps its owner and mode, and a kill leaves the old pages or the new ones. Until
   * it begins, the lock keeps out programs whose writes the copy aside would lack.
   */
  async #into(
    path: string,
    locked: DatabaseSync,
    staged: string,
    { onDeciding }: RestoreOptions,
  ): Promise<void> {
    using source = new DatabaseSync(staged);
    const pageSize = pragma(locked, 'page_size');
    // SQLite refuses to copy pages of another size into a file that has a write-ahead log.
    if (pragma(source, 'page_size') !== pageSize)
      source.exec(`PRAGMA journal_mode = DELETE; PRAGMA page_size = ${pageSize}; VACUUM`);
    const progress = ({ remainingPages }: { readonly remainingPages: number }) => {
      if (remainingPages <= PAGES_OF_STEP) onDeciding();
    };
    progress({ remainingPages: pragma(source, 'page_count') });
    locked.close();
    try {
      await backup(source, path, { rate: PAGES_OF_STEP, progress });
    } catch (error) {
      if (!isSyncFailure(error)) throw error;
      throw new OutcomeUnknown(`nobody knows whether it was done: ${messageOf(error)}`, { cause: error });
    }
  }
}

/** @throws {OperatorError} for a path that cannot be a database, or not this user's. */
function pathOf(name: string): string {
  try {
    const path = resolvePath(name);
    checkKind(path);
    checkWritable(path);
    // Files beside it have longer names.
    checkLength(partialOf(path));
    return path;
  } catch (error) {
    throw asNotOpened(name, error);
  }
}

/** Makes a checked database of this program's schema from a backup or an export. */
async function stage(
  kind: 'database' | 'export',
  file: string,
  staged: string,
  { highestOf, onProgress }: RestoreOptions,
): Promise<Pick<Restored, 'counts' | 'refused' | 'highestId'>> {
  if (kind === 'database') await copyBackup(file, staged, onProgress);
  using database = new DatabaseSync(staged);
  try {
    // Changes in a log would stay behind when the file gets its name.
    database.exec('PRAGMA journal_mode = DELETE');
    migrate(database);
  } catch (error) {
    throw asRefused(error);
  }
  if (kind === 'export') {
    const { add, finish } = importInto(database);
    finish(await readExport(createReadStream(file), add));
    database.exec('COMMIT');
  }
  onProgress('checking');
  const faults = integrityFaults(database);
  if (faults.length > 0) throw new BackupRefused('bad-data', faults.join(', '));
  const source = sourceOf(database);
  const refused = await rowFaults(source);
  const highestId = highestOf(source.highestId);
  setHighest(database, 'todos', highestId);
  makeDurable(database);
  return { counts: source.counts, refused, highestId };
}

/** @throws {BackupRefused} for a backup that is not of this service, newer, damaged or unreadable. */
async function copyBackup(
  file: string,
  staged: string,
  onProgress: RestoreOptions['onProgress'],
): Promise<void> {
  const { database, isUnchanged } = await openToRead(realpathSync(file)).catch((error) => {
    throw new BackupRefused('no-input', messageOf(error), { cause: error });
  });
  using source = database;
  try {
    checkReadableSchema(source);
    await copyPages(source, staged, onProgress);
  } catch (error) {
    throw asRefused(error);
  }
  if (!(await isUnchanged())) throw new BackupRefused('bad-data', 'it was changed while it was read');
}

/** The error of a step with a backup, which is to blame unless the machine is. */
function asRefused(error: unknown): unknown {
  if (resultCode(error) !== undefined && !isDamage(error) && !isOtherFormat(error)) return error;
  return new BackupRefused('bad-data', messageOf(error), { cause: error });
}

/** The database to replace, locked; undefined when it is unreadable. @throws {OperatorError} when it is not ours. */
function lockOld(path: string): DatabaseSync | undefined {
  using parts = new DisposableStack();
  try {
    checkReplaceable(path);
    const database = parts.use(connect(path));
    database.exec('BEGIN IMMEDIATE');
    parts.move();
    return database;
  } catch (error) {
    if (isDamage(error) || isOtherFormat(error)) return undefined;
    throw asNotOpened(path, error);
  }
}

function connect(path: string): DatabaseSync {
  return new DatabaseSync(existing(path), { timeout: BUSY_TIMEOUT_MS });
}

/**
 * Throws for a readable database of another program, which may write to it meanwhile. One that has the tables of this
 * service, and another `application_id`, is taken for damaged when no program has it open.
 */
function checkReplaceable(path: string): void {
  try {
    using database = connect(path);
    checkOwner(database);
  } catch (error) {
    if (!(error instanceof NotOurs && error.hasTables)) throw error;
    using database = connect(path);
    try {
      // In this mode, the lock excludes also those who only have the file open with a log.
      database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK');
    } catch (locked) {
      throw isBusy(locked) ? new NotOurs(`${error.message}, and a program has it open`) : locked;
    }
  }
}

/** Copies the old database. The result is the highest id that it had given out. */
async function copyAside(
  path: string,
  aside: string,
  { onProgress }: RestoreOptions,
): Promise<number | undefined> {
  using old = connect(path);
  await copyPages(old, aside, onProgress);
  // A database of a newer schema, or a damaged one, is kept as it is.
  return orUndefined(() => sourceOf(old).highestId);
}
