import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Tell } from '../../events.ts';
import { errorOf, type Failure, failureBy } from './error.ts';
import { type KnownFile, lookAt } from './file.ts';
import { type Lack, lackOf } from './needs.ts';

const POLL_INTERVAL_MS = 1_000;

/**
 * Whether a database that is served can be used. A file that is gone or damaged cannot until a restart, and what needs
 * something that the schema lacks cannot until it is there again (contract D11). While nobody can look for the file, it
 * is read (contract D16).
 */
export class DatabaseHealth implements Disposable {
  readonly file: KnownFile;
  readonly #tell: Tell;
  readonly #polling: NodeJS.Timeout;
  readonly #reader: DatabaseSync;
  readonly #schemaVersion: StatementSync;
  #fault: Failure | undefined;
  #isUnseen = false;
  #lack: Lack | undefined;
  /** The schema of which `#lack` tells. */
  #knownVersion: unknown;

  /** @param reader A connection to the file. */
  constructor(file: KnownFile, reader: DatabaseSync, tell: Tell) {
    this.file = file;
    this.#reader = reader;
    this.#schemaVersion = reader.prepare('PRAGMA schema_version');
    this.#tell = tell;
    this.#polling = setInterval(() => this.#look(), POLL_INTERVAL_MS).unref();
  }

  /** Why nothing can be read or written, or undefined. */
  get fault(): Failure | undefined {
    return this.#lack?.kind === 'type' ? this.#lack : this.#fault;
  }

  /** Throws when nothing can be read or written. */
  assertUsable(): void {
    const { fault } = this;
    if (fault !== undefined) throw errorOf(fault);
  }

  /** Looks for the file and at its schema. Throws when something cannot be used, and when nobody can look. */
  check(): void {
    const found = this.#fault ?? this.#look() ?? this.lookAtSchema();
    if (found !== undefined) throw errorOf(found);
  }

  /** Draws the conclusions from a failure that somebody met, and says what it is. */
  note(failure: Failure): Failure {
    const { trouble, message } = failure;
    // With a schema that lacks nothing, what was missing is there again.
    if (trouble === 'schema') return this.lookAtSchema() ?? { failure: 'unavailable', message };
    if (trouble === undefined || this.#fault !== undefined) return failure;
    if (trouble !== 'unseen') this.#fault = { failure: 'broken', message };
    else if (this.#isUnseen) return failure;
    else this.#isUnseen = true;
    this.#tell({ event: `database-${trouble}`, reason: message, path: this.file.name });
    return failure;
  }

  /** What the schema lacks. It is looked at again when it was changed. */
  lookAtSchema(): Failure | undefined {
    try {
      const version = this.#schemaVersion.get()?.schema_version;
      if (version !== this.#knownVersion) this.#know(lackOf(this.#reader));
      this.#knownVersion = version;
    } catch (error) {
      return this.note(failureBy(error));
    }
    return this.#lack;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#polling);
  }

  #know(lack: Lack | undefined): void {
    const before = this.#lack;
    this.#lack = lack;
    if ((before === undefined) === (lack === undefined)) return;
    this.#tell(
      lack === undefined ? { event: 'schema-mended' } : { event: 'schema-broken', reason: lack.message },
    );
  }

  #look(): Failure | undefined {
    const found = lookAt(this.file);
    if (found !== undefined) this.note(found);
    else if (this.#isUnseen) {
      this.#isUnseen = false;
      this.#tell({ event: 'database-seen', path: this.file.name });
    }
    return found;
  }
}
