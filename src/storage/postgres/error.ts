import { DatabaseError } from 'pg';
import { errorCode, messageOf } from '../../lib/errors.ts';
import { IdsExhausted, OutcomeUnknown, StoreNotWritable, StoreUnavailable } from '../../todos/store.ts';
import { type Host, nameOf } from './address.ts';

// Codes of errors: https://www.postgresql.org/docs/current/errcodes-appendix.html

/** The statement names a category that does not exist. */
export const FOREIGN_KEY_VIOLATION = ['23503'];

/** The role has no right to do what the statement says. */
export const INSUFFICIENT_PRIVILEGE = ['42501'];

/** A value does not fit its column: one of them has another type than the statement was made for. */
const WRONG_TYPE = ['22P02', '42804'];

/**
 * Something that the statement names is missing, or a right: of the schema, or of the statement (contract D11). A null
 * where none may be: a trigger gives a value.
 */
export const SCHEMA_ERRORS = [
  ...['42P01', '42703', '42883', '3F000', '23502'],
  ...INSUFFICIENT_PRIVILEGE,
  ...WRONG_TYPE,
];

/** The server does not take the password. */
export const INVALID_PASSWORD = ['28P01'];

/** The session was idle for too long: the server has ended it before it saw the statement. */
export const IDLE_SESSION_TIMEOUT = ['57P05'];

/** The server undid the statement for the sake of another one, or never saw it: it may be sent again. */
export const RETRIABLE = ['40001', '40P01', ...IDLE_SESSION_TIMEOUT];

const READ_ONLY_SQL_TRANSACTION = '25006';

/** Among others: a plan that a change of a table has made useless. */
const FEATURE_NOT_SUPPORTED = '0A000';

/**
 * No connection that is open now is of use. The server, or the session with it, has become read-only: it may be a
 * primary no longer. Or every connection that knows the statement has the same useless plan.
 */
export const OF_ALL_CONNECTIONS = [READ_ONLY_SQL_TRANSACTION, FEATURE_NOT_SUPPORTED, ...WRONG_TYPE];

/**
 * What is wrong is the state of the connection; the statement may do on another. Also a prepared statement that is gone,
 * and one that is there already.
 */
export const OF_CONNECTION = [FEATURE_NOT_SUPPORTED, ...IDLE_SESSION_TIMEOUT, '26000', '42P05'];

const PROTOCOL_VIOLATION = ['08P01'];
const UNIQUE_VIOLATION = '23505';
const SEQUENCE_GENERATOR_LIMIT_EXCEEDED = '2200H';
const LOCK_NOT_AVAILABLE = ['55P03'];

/** Connection exception, insufficient resources, operator intervention, system error. */
const MACHINE_FAULT_CLASSES = ['08', '53', '57', '58'];
const MACHINE_FAULTS = [READ_ONLY_SQL_TRANSACTION, ...LOCK_NOT_AVAILABLE, ...RETRIABLE, ...OF_CONNECTION];

/** It is starting or stopping, or has no connection left. */
const LATER = ['57P03', '53300'];

/**
 * A certificate of an authority that is unknown, or for another name: https://nodejs.org/api/tls.html#x509-certificate-error-codes.
 * One that is not valid at this time is renewed by others.
 */
const MISTRUSTED = [
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'],
];

/** Whether the server said one of these codes. */
export function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof DatabaseError && codes.includes(error.code ?? '');
}

/** Why a server, or what stands before it, will never do. */
export class ServerUnfit extends Error {
  override readonly name = 'ServerUnfit';
}

/** The search path finds no list, and another schema has one (contract D20). */
export class ListElsewhere extends Error {
  override readonly name = 'ListElsewhere';
}

/** Why a host will not do. */
export interface HostFailure {
  readonly host: Host;
  readonly error: unknown;
}

/** No server of a cluster will do. The message says why, of each by its name where there are several. */
export class NoServer extends Error {
  override readonly name = 'NoServer';
  /** A server was there, and takes no writes for now. */
  readonly readOnly: boolean;
  /** Waiting does not help: each server said no for good. */
  readonly final: boolean;
  /** Nobody but an operator mends it: each server has a certificate that is not trusted, or for another name. */
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

/** The statement brings a key that is there. */
export function isKeyTaken(error: unknown): boolean {
  return isTaken(error, 'idempotency_keys_pkey');
}

/** The sequence gave out an id that is there: it is behind (contract D12). */
export function isIdTaken(error: unknown): boolean {
  return isTaken(error, 'todos_pkey') || isTaken(error, 'categories_pkey');
}

function isTaken(error: unknown, constraint: string): boolean {
  return error instanceof DatabaseError && error.code === UNIQUE_VIOLATION && error.constraint === constraint;
}

/** Row security would have filtered rows, whether or not it still would. The name of the server's function is in no language. */
export function isOfRowSecurity(error: unknown): boolean {
  return error instanceof DatabaseError && error.routine === 'check_enable_rls';
}

/** A statement waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof StoreUnavailable && hasCode(error.cause, LOCK_NOT_AVAILABLE);
}

/** A pooler's answer to what it does not let through: settings in the startup packet, a transaction. */
export function isProtocolViolation(error: unknown): boolean {
  return (
    hasCode(error, PROTOCOL_VIOLATION) || (error instanceof Error && hasCode(error.cause, PROTOCOL_VIOLATION))
  );
}

/** What the store rejects with when there is no connection for a statement, and why (contract D9). */
export function noConnection(why: string, cause?: unknown): StoreUnavailable {
  const message = `No connection to the database: ${why}`;
  const Unavailable = cause instanceof NoServer && cause.readOnly ? StoreNotWritable : StoreUnavailable;
  return new Unavailable(message, { cause });
}

/** What the store rejects with when a statement was sent and this came back (contract D5; D9). */
export function toStoreError(error: unknown, kind: 'read' | 'write'): unknown {
  if (error instanceof OutcomeUnknown) return error;
  if (!(error instanceof DatabaseError)) {
    const message = `The connection to the database was lost: ${messageOf(error)}`;
    const Lost = kind === 'read' ? StoreUnavailable : OutcomeUnknown;
    return new Lost(message, { cause: error });
  }
  const { code = '' } = error;
  if (code === SEQUENCE_GENERATOR_LIMIT_EXCEEDED) return new IdsExhausted();
  if (MACHINE_FAULT_CLASSES.includes(code.slice(0, 2)) || MACHINE_FAULTS.includes(code)) {
    return new StoreUnavailable(messageOf(error), { cause: error });
  }
  return error;
}
