import { DatabaseError } from 'pg';
import { IdsExhausted, OutcomeUnknown, StoreUnavailable } from '../store.ts';

// Error codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
const FOREIGN_KEY_VIOLATION = '23503';
const SEQUENCE_GENERATOR_LIMIT_EXCEEDED = '2200H';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const QUERY_CANCELED = '57014';
const READ_ONLY_SQL_TRANSACTION = '25006';
const LOCK_NOT_AVAILABLE = '55P03';

/** Connection exception, insufficient resources, operator intervention, system error. */
const MACHINE_FAULT_CLASSES = ['08', '53', '57', '58'];
const MACHINE_FAULTS = [QUERY_CANCELED, READ_ONLY_SQL_TRANSACTION, LOCK_NOT_AVAILABLE];

/** The statement names a category that does not exist. */
export function isForeignKeyRefusal(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === FOREIGN_KEY_VIOLATION;
}

/** The server undid the statement for the sake of another one: it may be sent again. */
export function mayBeRetried(error: unknown): boolean {
  return (
    error instanceof DatabaseError && [SERIALIZATION_FAILURE, DEADLOCK_DETECTED].includes(error.code ?? '')
  );
}

/**
 * The server said, on a connection that lives on, that it did not do what was asked. FATAL is said by a
 * connection that ends, and what it did before is not certain.
 */
export function isAnswer(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.severity === 'ERROR';
}

/** What the store rejects with when a statement was sent and this came back (contract D5, D9). */
export function errorOf(error: unknown, kind: 'read' | 'write'): unknown {
  if (!isAnswer(error)) {
    const message = `The connection to the database was lost: ${messageOf(error)}`;
    if (kind === 'read') return new StoreUnavailable(message, { cause: error });
    return new OutcomeUnknown(message, { cause: error });
  }
  const { code = '' } = error;
  if (code === SEQUENCE_GENERATOR_LIMIT_EXCEEDED) return new IdsExhausted();
  if (MACHINE_FAULT_CLASSES.includes(code.slice(0, 2)) || MACHINE_FAULTS.includes(code)) {
    return new StoreUnavailable(messageOf(error), { cause: error });
  }
  return mayBeRetried(error) ? new StoreUnavailable(messageOf(error), { cause: error }) : error;
}

/** What the driver or the server said, for people. A name with several addresses fails once for each. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}
