import { DatabaseError } from 'pg';
import { errorCode, messageOf } from '../../lib/errors.ts';
import {
  IdsExhausted,
  OutcomeUnknown,
  StoreBroken,
  StoreNotWritable,
  StoreUnavailable,
} from '../../shared-list/store.ts';
import { type Host, nameOf } from './address.ts';

/** The role lacks a right for the statement. All codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export const INSUFFICIENT_PRIVILEGE = ['42501'];

/** A value does not fit its column: a column has another type than the statement expects. */
const WRONG_TYPE = ['22P02', '42804'];

/** A part of the schema or a right is missing; or a trigger gives a null where none may be (contract D11). */
export const SCHEMA_ERRORS = [
  ...['42P01', '42703', '42883', '3F000', '23502'],
  ...INSUFFICIENT_PRIVILEGE,
  ...WRONG_TYPE,
];

/** The server does not take the password. */
export const INVALID_PASSWORD = ['28P01'];

/** The warning for a COMMIT, or the error for a savepoint, where the server has no transaction. */
export const NO_TRANSACTION = ['25P01'];

/** Each statement commits by itself, or meets another session of the server (contract D26). */
export const NOT_KEPT =
  'its pooler must keep a transaction on one connection, as PgBouncer does with "pool_mode = transaction"';

/** The session was idle for too long: the server has ended it before it saw the statement. */
export const IDLE_SESSION_TIMEOUT = ['57P05'];

/** The statement has a name that the session does not know, or knows already: an unnoticed pooler mixes sessions. */
export const OF_NAMES = ['26000', '42P05'];

/** A conflict with another transaction. A function that raises it asks for a repeat. */
const CONFLICT = ['40001', '40P01'];

/** The server undid the statement for the sake of another one, or never began it: it may be sent again. */
export const RETRIABLE = [...CONFLICT, ...IDLE_SESSION_TIMEOUT, ...OF_NAMES];

const READ_ONLY_SQL_TRANSACTION = '25006';

/** Among others: a plan that a change of a table has made useless. */
const FEATURE_NOT_SUPPORTED = '0A000';

/**
 * No open connection can be used. The server, or the session with it, has become read-only: it may no longer be the
 * primary. Or every connection that knows the statement has the same useless plan.
 */
export const OF_ALL_CONNECTIONS = [READ_ONLY_SQL_TRANSACTION, FEATURE_NOT_SUPPORTED, ...WRONG_TYPE];

/** The fault is the state of the connection; the statement may succeed on another. */
export const OF_CONNECTION = [FEATURE_NOT_SUPPORTED, ...IDLE_SESSION_TIMEOUT, ...OF_NAMES];

const PROTOCOL_VIOLATION = ['08P01'];
/**
 * A value that cannot be computed; violated constraint; value of a generated column; published table without replica
 * identity; error of a foreign table; error of a function, whose class may be one that is left to users.
 */
const REFUSAL = /^(?:22(?!00H|P02)|23|428C9|55000|HV|[6-9I-WYZ])/;
const SEQUENCE_GENERATOR_LIMIT_EXCEEDED = '2200H';
const LOCK_NOT_AVAILABLE = ['55P03'];

/** Constraints of which a violation is an outcome, or a sequence that is behind. */
const OF_CATEGORY = 'todos_category_id_fkey';
const OF_KEY = 'idempotency_keys_pkey';
const OF_ID = ['todos_pkey', 'categories_pkey'];

/** Columns that the schema fills: a null is a missing trigger or sequence, which a look finds. */
const FILLED = ['todos.id', 'todos.changed', 'todo_tombstones.changed', 'categories.id'];

/** Connection exception, insufficient resources, operator intervention, system error, internal error and damaged data. */
const MACHINE_FAULT_CLASSES = ['08', '53', '57', '58', 'XX'];
const MACHINE_FAULTS = [READ_ONLY_SQL_TRANSACTION, ...LOCK_NOT_AVAILABLE, ...RETRIABLE, ...OF_CONNECTION];

/** The server is starting or stopping, or has no connection left. */
const LATER = ['57P03', '53300'];

/**
 * A certificate of an unknown authority, which may have the name of a known one, or for another name:
 * https://nodejs.org/api/tls.html#x509-certificate-error-codes. A certificate that is not valid at this time is not among
 * them: it is renewed elsewhere.
 */
const MISTRUSTED = [
  'CERT_SIGNATURE_FAILURE',
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'],
];

/** Whether an error of the server has one of these codes, and is its own (`isBorrowed`). */
export function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof DatabaseError && codes.includes(error.code ?? '') && !isBorrowed(error);
}

/** Characters of each part of `addContext`, at most: functions of a database may call themselves. */
const CONTEXT_MAX_LENGTH = 300;

/**
 * Adds to an error what its server says of the place, and its hint, in one line. Values of the statement, which
 * `log_parameter_max_length_on_error` adds, are left out: a value in quotes may have several lines.
 */
export function addContext(error: DatabaseError): void {
  const place = error.where?.replaceAll(/^.*?\$\d+ = (?:'[^']*'?|[^'\n]+)*$\n?/gm, '');
  const lines = place?.trim().split(/\r?\n/);
  const parts = [lines?.map((line) => line.trim()).join(', '), error.hint]
    .map((part = '') => part.replaceAll(/\s+/g, ' ').slice(0, CONTEXT_MAX_LENGTH))
    .filter((part) => part !== '');
  if (parts.length > 0) error.message += ` (${parts.join('; ')})`;
}

/** The reason why a server, or a pooler or balancer before it, is unfit for good. */
export class ServerUnfit extends Error {
  override readonly name = 'ServerUnfit';
}

/** The search path finds no list, and another schema has one (contract D20). */
export class ListElsewhere extends Error {
  override readonly name = 'ListElsewhere';
}

export interface HostFailure {
  readonly host: Host;
  readonly error: unknown;
}

/** No server of a cluster is fit. The message has the reasons, each with its server where there are several. */
export class NoServer extends Error {
  override readonly name = 'NoServer';
  /** Whether a server answered, but takes no writes for now. */
  readonly readOnly: boolean;
  /** Whether waiting does not help: each server is unfit for good. */
  readonly final: boolean;
  /** Whether only an operator can mend it: each server has a certificate that is not trusted, or for another name. */
  readonly mistrusted: boolean;

  constructor(failures: readonly HostFailure[]) {
    const of = (host: Host): string => (failures.length === 1 ? '' : `${nameOf(host)}: `);
    super(failures.map(({ host, error }) => `${of(host)}${messageOf(error, '"sslrootcert"')}`).join('; '));
    this.readOnly = failures.some(({ error }) => error instanceof StoreNotWritable);
    this.mistrusted = failures.every(({ error }) => MISTRUSTED.includes(errorCode(error) ?? ''));
    this.final = failures.every(({ error }) =>
      error instanceof DatabaseError ? !hasCode(error, LATER) : error instanceof ServerUnfit,
    );
  }
}

/** Whether the statement names a category that does not exist. */
export function isCategoryMissing(error: unknown): boolean {
  return constraintOf(error) === OF_CATEGORY;
}

/** Whether the statement adds a key that exists. */
export function isKeyTaken(error: unknown): boolean {
  return constraintOf(error) === OF_KEY;
}

/** Whether the sequence gave out an existing id: it is behind (contract D12). */
export function isIdTaken(error: unknown): boolean {
  return OF_ID.includes(constraintOf(error));
}

/** The name of the constraint that a statement violates, or "". */
function constraintOf(error: unknown): string {
  return (error instanceof DatabaseError && error.constraint) || '';
}

/**
 * What in the schema refuses a write that the service may make, as it is told apart from others, or undefined: a constraint,
 * a column or a rule that is not of this program, a trigger that raises an error.
 */
export function refuserOf(error: unknown): string | undefined {
  if (!(error instanceof DatabaseError)) return undefined;
  const { code = '', table, constraint = '', column = '', where, message } = error;
  const isOurs =
    [OF_CATEGORY, OF_KEY, ...OF_ID].includes(constraint) || FILLED.includes(`${table}.${column}`);
  if (isOurs || !(REFUSAL.test(code) || isBorrowed(error))) return undefined;
  // What is in quotes may be a value of the statement.
  const place = where?.split('\n').filter((line) => !/["']/.test(line));
  return [code, table, constraint || column || place?.join() || message].join(' ');
}

/**
 * Whether a rule, or RAISE in a function of PL/pgSQL, refuses the statement, with a code that is another's. The server does
 * not translate the names of its own functions.
 */
function isBorrowed({ code = '', routine }: DatabaseError): boolean {
  if (routine === 'exec_stmt_raise') return ![...CONFLICT, ...SCHEMA_ERRORS].includes(code);
  return routine === 'RewriteQuery' && code === FEATURE_NOT_SUPPORTED;
}

/** Codes of PostgreSQL, and of poolers, for a statement that asks for nothing but settings. */
const OF_ANY_STATEMENT = /^(?:0[8A]|2[568]|3D|40|5[34578]|XX|42P05|42501)/;

/** Whether such a statement is refused as by an engine that is not PostgreSQL, or is older than the settings. */
export function isOfOtherEngine(error: unknown): boolean {
  return error instanceof DatabaseError && !OF_ANY_STATEMENT.test(error.code ?? '');
}

/** Whether a statement waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof StoreUnavailable && hasCode(error.cause, LOCK_NOT_AVAILABLE);
}

/** Whether a pooler refused a feature that it does not support: settings in the startup packet, a transaction. */
export function isProtocolViolation(error: unknown): boolean {
  return (
    hasCode(error, PROTOCOL_VIOLATION) || (error instanceof Error && hasCode(error.cause, PROTOCOL_VIOLATION))
  );
}

/** The store's rejection when there is no connection for a statement, with the reason (contract D9). */
export function noConnection(why: string, cause?: unknown): StoreUnavailable {
  const message = `No connection to the database: ${why}`;
  const Unavailable = cause instanceof NoServer && cause.readOnly ? StoreNotWritable : StoreUnavailable;
  return new Unavailable(message, { cause });
}

/** The store's rejection for an error of a statement that was sent (contract D5; D9; D11). */
export function toStoreError(error: unknown, kind: 'read' | 'write'): unknown {
  if (error instanceof OutcomeUnknown || error instanceof StoreUnavailable) return error;
  if (!(error instanceof DatabaseError)) {
    const message = `The connection to the database was lost: ${messageOf(error)}`;
    const Lost = kind === 'read' ? StoreUnavailable : OutcomeUnknown;
    return new Lost(message, { cause: error });
  }
  const { code = '' } = error;
  if (refuserOf(error) !== undefined) return new StoreBroken(messageOf(error), { cause: error });
  if (code === SEQUENCE_GENERATOR_LIMIT_EXCEEDED) return new IdsExhausted();
  if (MACHINE_FAULT_CLASSES.includes(code.slice(0, 2)) || MACHINE_FAULTS.includes(code)) {
    return new StoreUnavailable(messageOf(error), { cause: error });
  }
  return error;
}
