import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { LogEvent } from '../../events.ts';
import { followOutage } from '../../lib/outage.ts';
import { refusalLog, schemaLog } from '../refusals.ts';
import { errorOf, type Failure, failureBy } from './error.ts';
import { type KnownFile, lookAt } from './file.ts';
import { type UnmetRequirement, unmetRequirementOf } from './unmet-requirement.ts';

const POLL_INTERVAL_MS = 1_000;

/**
 * Whether a database that is served can be used. A file that is gone or damaged cannot be used until a restart.
 * Statements that need a missing part of the schema cannot run until it is there again (contract D11). While the system
 * does not say whether the file is there, it is read (contract D16).
 */
export class DatabaseHealth implements Disposable {
  readonly file: KnownFile;
  readonly #isTold = followOutage();
  readonly #logEvent: LogEvent;
  readonly #logRefusal: ReturnType<typeof refusalLog>;
  readonly #logUnmet: ReturnType<typeof schemaLog>;
  readonly #polling: NodeJS.Timeout;
  readonly #reader: DatabaseSync;
  readonly #schemaVersion: StatementSync;
  #fault: Failure | undefined;
  #unmet: UnmetRequirement | undefined;
  /** The version of the schema that `#unmet` belongs to. */
  #knownVersion: unknown;

  constructor(file: KnownFile, reader: DatabaseSync, logEvent: LogEvent) {
    this.file = file;
    this.#reader = reader;
    this.#schemaVersion = reader.prepare('PRAGMA schema_version');
    this.#logEvent = logEvent;
    this.#logRefusal = refusalLog(logEvent);
    this.#logUnmet = schemaLog(logEvent);
    this.#polling = setInterval(() => this.#look(), POLL_INTERVAL_MS).unref();
  }

  /** The reason why nothing can be read or written, or undefined. */
  get fault(): Failure | undefined {
    return this.#unmet?.kind === 'type' ? this.#unmet : this.#fault;
  }

  /** Throws when nothing can be read or written. */
  assertUsable(): void {
    const { fault } = this;
    if (fault !== undefined) throw errorOf(fault);
  }

  /** Looks for the file and at its schema. Throws when one cannot be used, and when the file cannot be looked at. */
  check(): void {
    const found = this.#fault ?? this.#look() ?? this.lookAtSchema();
    if (found !== undefined) throw errorOf(found);
  }

  /** Notes a failure and its consequences. The result is the failure to report. */
  note(failure: Failure): Failure {
    const { state, message } = failure;
    // With a schema that lacks nothing, the missing part is there again.
    if (state === 'schema') return this.lookAtSchema() ?? { failure: 'unavailable', message };
    if (state === 'refused') this.#logRefusal(message);
    if (state === undefined || state === 'refused' || this.#fault !== undefined) return failure;
    if (state !== 'unseen') this.#fault = { failure: 'broken', message };
    else if (!this.#isTold(message)) return failure;
    this.#logEvent({ event: `database-${state}`, reason: message, path: this.file.name });
    return failure;
  }

  /** The unmet requirement of the schema, which is looked at again when the schema was changed. */
  lookAtSchema(): Failure | undefined {
    try {
      const version = this.#schemaVersion.get()?.schema_version;
      if (version === this.#knownVersion) return this.#unmet;
      this.#unmet = unmetRequirementOf(this.#reader);
      this.#logUnmet(this.#unmet?.message);
      this.#knownVersion = version;
    } catch (error) {
      return this.note(failureBy(error));
    }
    return this.#unmet;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#polling);
  }

  #look(): Failure | undefined {
    const found = lookAt(this.file);
    if (found !== undefined) this.note(found);
    else if (this.#isTold(undefined)) this.#logEvent({ event: 'database-seen', path: this.file.name });
    return found;
  }
}
