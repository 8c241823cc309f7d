import { DatabaseError } from 'pg';
import { IdsExhausted, OutcomeUnknown, StoreNotWritable, StoreUnavailable } from '../store.ts';
import { type Host, nameOf } from './address.ts';

// Error codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
const FOREIGN_KEY_VIOLATION = '23503';
const UNIQUE_VIOLATION = '23505';
const SEQUENCE_GENERATOR_LIMIT_EXCEEDED = '2200H';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const READ_ONLY_SQL_TRANSACTION = '25006';
const LOCK_NOT_AVAILABLE = '55P03';
const INSUFFICIENT_PRIVILEGE = '42501';
const PROTOCOL_VIOLATION = '08P01';
const INVALID_PASSWORD = '28P01';

/**
 * A table, a column or a function is missing, a right, or what the path of schemas names. A null where none may be: a
 * trigger gives a value.
 */
const SCHEMA_ERRORS = ['42P01', '42703', '42883', INSUFFICIENT_PRIVILEGE, '3F000', '23502'];

/** Among others: a plan that a change of a table has made useless. */
const FEATURE_NOT_SUPPORTED = '0A000';

/** The session was idle for too long: none of its statements is under way. */
const IDLE_SESSION_TIMEOUT = '57P05';

/** Also a prepared statement that is gone, one that is there already, and a transaction that was left open. */
const CONNECTION_STATES = [FEATURE_NOT_SUPPORTED, IDLE_SESSION_TIMEOUT, '26000', '42P05', '25P02'];

/** Connection exception, insufficient resources, operator intervention, system error. */
const MACHINE_FAULT_CLASSES = ['08', '53', '57', '58'];
const MACHINE_FAULTS = [
  READ_ONLY_SQL_TRANSACTION,
  LOCK_NOT_AVAILABLE,
  SERIALIZATION_FAILURE,
  DEADLOCK_DETECTED,
  ...CONNECTION_STATES,
];

/** It is starting or stopping, or has no connection left. */
const LATER = ['57P03', '53300'];

/** A statement was sent, and no answer came that says what became of it. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** The server made a change and gave up waiting for its standby: a failover may lose it. */
export class CommitNotReplicated extends Error {
  override readonly name = 'CommitNotReplicated';
  constructor() {
    super('the wait for a synchronous standby was cancelled');
  }
}

/** Why a server, or what stands before it, will not do. */
export class ServerUnfit extends Error {
  override readonly name = 'ServerUnfit';
  /** It may take writes later: it is a standby, or read-only for now. */
  readonly readOnly: boolean;
  constructor(message: string, readOnly: boolean) {
    super(message);
    this.readOnly = readOnly;
  }
}

/** Why a host will not do. */
export interface HostFailure {
  readonly host: Host;
  readonly error: unknown;
}

/** No server of a cluster will do. The message says why, of each by its name where there are several. */
export class NoServer extends Error {
  override readonly name = 'NoServer';
  readonly #failures: readonly HostFailure[];

  constructor(failures: readonly HostFailure[]) {
    const of = (host: Host): string => (failures.length === 1 ? '' : `${nameOf(host)}: `);
    super(failures.map(({ host, error }) => `${of(host)}${messageOf(error)}`).join('; '));
    this.#failures = failures;
  }

  /** A server was there, and takes no writes for now. */
  get readOnly(): boolean {
    return this.#failures.some(({ error }) => error instanceof ServerUnfit && error.readOnly);
  }

  /** Waiting does not help: each server said no for good. */
  get final(): boolean {
    return this.#failures.every(({ error }) =>
      error instanceof DatabaseError
        ? !LATER.includes(error.code ?? '')
        : error instanceof ServerUnfit && !error.readOnly,
    );
  }
}

/** The statement names a category that does not exist. */
export function isForeignKeyViolation(error: unknown): boolean {
  return codeOf(error) === FOREIGN_KEY_VIOLATION;
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

/** Something that the statement names is missing, or a right: of the schema, or of the statement (contract D11). */
export function isSchemaError(error: unknown): boolean {
  return SCHEMA_ERRORS.includes(codeOf(error));
}

/** A statement waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof StoreUnavailable && codeOf(error.cause) === LOCK_NOT_AVAILABLE;
}

/** The role has no right to do what the statement says. */
export function isInsufficientPrivilege(error: unknown): boolean {
  return codeOf(error) === INSUFFICIENT_PRIVILEGE;
}

/** The server has ended the session before it saw the statement. */
export function isIdleTimeout(error: unknown): boolean {
  return codeOf(error) === IDLE_SESSION_TIMEOUT;
}

/** The server does not take the password. */
export function isWrongPassword(error: unknown): boolean {
  return codeOf(error) === INVALID_PASSWORD;
}

/** A pooler's answer to what it does not let through: settings in the startup packet, a transaction. */
export function isProtocolViolation(error: unknown): boolean {
  return codeOf(error instanceof ConnectionLost ? error.cause : error) === PROTOCOL_VIOLATION;
}

/** The server undid the statement for the sake of another one, or never saw it: it may be sent again. */
export function mayBeRetried(error: unknown): boolean {
  return [SERIALIZATION_FAILURE, DEADLOCK_DETECTED, IDLE_SESSION_TIMEOUT].includes(codeOf(error));
}

/** What is wrong is the state of the connection; the statement may do on another. */
export function isConnectionState(error: unknown): boolean {
  return CONNECTION_STATES.includes(codeOf(error));
}

/**
 * No connection that is open now is of use. The server, or the session with it, has become read-only: it may be a
 * primary no longer. Or every connection that knows the statement has the same useless plan.
 */
export function concernsAll(error: unknown): boolean {
  return [READ_ONLY_SQL_TRANSACTION, FEATURE_NOT_SUPPORTED].includes(codeOf(error));
}

/** Empty when the server said nothing. */
function codeOf(error: unknown): string {
  return error instanceof DatabaseError ? (error.code ?? '') : '';
}

/** What the store rejects with when there is no connection for a statement, and why (contract D9). */
export function noConnection(why: string, cause?: unknown): StoreUnavailable {
  const message = `No connection to the database: ${why}`;
  if (cause instanceof NoServer && cause.readOnly) return new StoreNotWritable(message, { cause });
  return new StoreUnavailable(message, cause === undefined ? {} : { cause });
}

/** What the store rejects with when a statement was sent and this came back (contract D5, D9). */
export function toStoreError(error: unknown, kind: 'read' | 'write'): unknown {
  if (error instanceof CommitNotReplicated) return new OutcomeUnknown(error.message, { cause: error });
  if (!(error instanceof DatabaseError)) {
    const message = `The connection to the database was lost: ${messageOf(error)}`;
    if (kind === 'read') return new StoreUnavailable(message, { cause: error });
    return new OutcomeUnknown(message, { cause: error });
  }
  const code = codeOf(error);
  if (code === SEQUENCE_GENERATOR_LIMIT_EXCEEDED) return new IdsExhausted();
  if (MACHINE_FAULT_CLASSES.includes(code.slice(0, 2)) || MACHINE_FAULTS.includes(code)) {
    return new StoreUnavailable(messageOf(error), { cause: error });
  }
  return error;
}

/** What the driver or the server said, for people. A name with several addresses fails once for each. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
