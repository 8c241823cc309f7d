/**
 * The statements that begin a transaction with limits of its own, whatever the limits of the role are; behind a pooler
 * too. None of them takes the transaction's snapshot.
 *
 * @param statementMs For each statement, its wait for a lock included, and between two.
 * @param endsTransactions Whether the server knows `transaction_timeout`, as PostgreSQL does since 17.
 */
export function beginning(mode: string, statementMs: number, endsTransactions: boolean): readonly string[] {
  return [
    `BEGIN ${mode}`,
    `SET LOCAL statement_timeout = ${statementMs}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${statementMs}`,
    'SET LOCAL lock_timeout = 0',
    // Rows that row security would filter are an error.
    'SET LOCAL row_security = off',
    // Only 0 changes a limit that runs already.
    ...(endsTransactions ? ['SET LOCAL transaction_timeout = 0'] : []),
  ];
}

/** Comes first in a text that must not be done elsewhere: without a transaction the server does none of it. */
export const IN_TRANSACTION = 'SAVEPOINT inside; RELEASE inside; ';
