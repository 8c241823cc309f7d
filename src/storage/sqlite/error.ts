import { errorCode, messageOf } from '../../lib/errors.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import {
  IdsExhausted,
  notOpened,
  OutcomeUnknown,
  StoreBroken,
  StoreUnavailable,
} from '../../shared-list/store.ts';
import { LEFT_OUT } from '../refusals.ts';
import { otherFormatOf } from './format.ts';

/** Result codes, https://www.sqlite.org/rescode.html. */
const MACHINE_FAULTS = {
  SQLITE_BUSY: 5,
  SQLITE_LOCKED: 6,
  SQLITE_READONLY: 8,
  SQLITE_IOERR: 10,
  SQLITE_CORRUPT: 11,
  SQLITE_FULL: 13,
  SQLITE_CANTOPEN: 14,
  SQLITE_PROTOCOL: 15,
  SQLITE_NOTADB: 26,
};

const { SQLITE_BUSY, SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB } = MACHINE_FAULTS;

const SQLITE_ERROR = 1;
const SQLITE_TOOBIG = 18;
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;
const SQLITE_IOERR_READ = 266;
const SQLITE_IOERR_SHORT_READ = 522;
const SQLITE_IOERR_CORRUPTFS = 8458;
const SQLITE_IOERR_WRITE = 778;
const SQLITE_CONSTRAINT_CHECK = 275;
const SQLITE_CONSTRAINT_FOREIGNKEY = 787;

/** The extended result code of an error that SQLite raised, or undefined for any other error. */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

/** The low eight bits of an extended code name its kind: SQLITE_BUSY_SNAPSHOT is a SQLITE_BUSY. */
function isOfKind(error: unknown, ...kinds: readonly number[]): boolean {
  const code = resultCode(error);
  return code !== undefined && kinds.includes(code & 0xff);
}

/** The database is in use by another program. */
export function isBusy(error: unknown): boolean {
  return isOfKind(error, SQLITE_BUSY);
}

/** Whether the machine is at fault: locked too long, full, read-only, broken disk, damaged file (contract D9; D11). */
export function isMachineFault(error: unknown): boolean {
  return isOfKind(error, ...Object.values(MACHINE_FAULTS));
}

const UNREADABLE = [SQLITE_IOERR_READ, SQLITE_IOERR_SHORT_READ, SQLITE_IOERR_CORRUPTFS];

/** Whether the file can no longer be read (contract D11). For an EIO, a running statement raises SQLITE_CORRUPT. */
export function isDamage(error: unknown): boolean {
  return UNREADABLE.includes(resultCode(error) ?? 0) || isCorrupt(error);
}

/** Whether SQLite has found a damaged page, or no database at all. */
function isCorrupt(error: unknown): boolean {
  return isOfKind(error, SQLITE_CORRUPT, SQLITE_NOTADB);
}

/** Whether SQLite does not read the format that a header names (SQLITE_ERROR), or not write it (SQLITE_READONLY). */
export function isOtherFormat(error: unknown): boolean {
  const code = resultCode(error);
  return code === SQLITE_ERROR || code === MACHINE_FAULTS.SQLITE_READONLY;
}

/**
 * Whether a commit failed after its last byte was written: only a restart would show what the drive has kept. When the
 * writing itself fails, the mark that makes the commit valid is missing.
 */
export function isSyncFailure(error: unknown): boolean {
  return isOfKind(error, SQLITE_IOERR) && resultCode(error) !== SQLITE_IOERR_WRITE;
}

/** Whether a statement could not be prepared: it names a part that the schema did not have then. */
export function isUnprepared(error: unknown): boolean {
  return isOfKind(error, SQLITE_ERROR);
}

/** A trigger keeps a row from being written, without an error. */
export class RowLeftOut extends Error {
  override readonly name = 'RowLeftOut';

  constructor() {
    super(LEFT_OUT);
  }
}

/** Whether a part of the schema refuses a write: a constraint, or a trigger, also by a value that it writes itself. */
export function isRefusal(error: unknown): boolean {
  return isOfKind(error, SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH) || error instanceof RowLeftOut;
}

/** Whether a foreign key refuses a write: a category does not exist, or somebody has made another key. */
export function isForeignKeyRefusal(error: unknown): boolean {
  return resultCode(error) === SQLITE_CONSTRAINT_FOREIGNKEY;
}

/** Whether the id would leave the 32-bit range: SQLite's message names the constraint of the schema. */
function isIdsExhausted(error: unknown): boolean {
  const refused = resultCode(error) === SQLITE_CONSTRAINT_CHECK;
  return refused && error instanceof Error && error.message.endsWith('ids_exhausted');
}

/** The reason of a refusal, without a path: of the system `EMFILE: too many open files, open`, else with its code. */
export function machineReason(error: unknown): string {
  const [message = ''] = messageOf(error).split(" '/");
  const code = resultCode(error) === undefined ? errorCode(error) : undefined;
  return code === undefined || message.startsWith(code) ? message : `${message} (${code})`;
}

/** A file is empty, or of another program. The message is for people. */
export class NotOurs extends Error {
  /** Whether it has the tables of this service: its `application_id` may be damaged. */
  readonly hasTables: boolean;

  constructor(message: string, hasTables = false) {
    super(message);
    this.hasTables = hasTables;
  }
}

/** The failure of opening a file. No restart mends one of another program, or a damaged one (contract D15). */
export function asNotOpened(path: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  if (error instanceof NotOurs) return notOpened(path, error.message, 'bad-data', error);
  const format = resultCode(error) === undefined ? undefined : otherFormatOf(path);
  if (format !== undefined) return notOpened(path, format, 'bad-data', error);
  if (isCorrupt(error) || isOtherFormat(error)) return notOpened(path, withRemedy(error), 'bad-data', error);
  return notOpened(path, messageOf(error), 'unavailable', error);
}

/** The message of a file that no restart mends, and what does. */
const withRemedy = (error: unknown): string => `${messageOf(error)}: restore a backup`;

/** Turns a refusal of SQLite (locked, full, read-only, damaged) into a line for the operator. */
export function asStoreError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (resultCode(error) === undefined) throw error;
    if (isCorrupt(error)) throw new OperatorError('bad-data', withRemedy(error), { cause: error });
    throw new StoreUnavailable(messageOf(error), { cause: error });
  }
}

/**
 * The failure of a thread's order, in a form that crosses threads. `unavailable`: the machine is at fault, and nothing
 * was changed. `unknown`: the commit was on its way to the disk; a crash may bring the changes back, or take them away.
 * `broken`: the file is gone or damaged, or its schema lacks something, and nothing was changed. `ids-exhausted`: there
 * is no id for a new todo. `error`: a bug, and nothing was changed.
 */
export interface Failure {
  readonly failure: 'unavailable' | 'unknown' | 'broken' | 'ids-exhausted' | 'error';
  readonly message: string;
  /**
   * The state of the file. `gone`: deleted or replaced. `damaged`: corrupt, or the disk does not read it. `unseen`: the
   * system does not say whether it is there. `schema`: it may lack something. `refused`: a part of its schema refuses this write alone.
   */
  readonly state?: 'gone' | 'damaged' | 'unseen' | 'schema' | 'refused';
}

/** The failure of an error of SQLite, before anything was on its way to the disk. */
export function failureBy(error: unknown): Failure {
  const message = messageOf(error);
  if (isDamage(error)) return { failure: 'broken', state: 'damaged', message };
  if (isUnprepared(error)) return { failure: 'broken', state: 'schema', message };
  if (isIdsExhausted(error)) return { failure: 'ids-exhausted', message };
  if (isRefusal(error)) return refused(error);
  return { failure: isMachineFault(error) ? 'unavailable' : 'error', message };
}

export const refused = (error: unknown): Failure => ({
  failure: 'broken',
  state: 'refused',
  message: messageOf(error),
});

const ERRORS = { unavailable: StoreUnavailable, unknown: OutcomeUnknown, broken: StoreBroken, error: Error };

/** The rejection of the store for a failure. */
export function errorOf({ failure, message }: Failure, cause?: unknown): Error {
  return failure === 'ids-exhausted' ? new IdsExhausted() : new ERRORS[failure](message, { cause });
}
