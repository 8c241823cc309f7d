/**
 * Limits that keep slow, silent and numerous clients from holding the service. A slow head ends within 6 s, a slow body
 * within 11 s, an answer that the client does not read within 61 s, bytes behind a last answer within 31 s.
 */
export const LIMITS = {
  /** Milliseconds until a head must be there, a silent socket's too; then 408. */
  headersTimeout: 5_000,
  /** Milliseconds until head and body must be there; then 408. */
  requestTimeout: 10_000,
  /** Milliseconds between two checks of the clocks above, by which each may be exceeded. */
  connectionsCheckingInterval: 500,
  /** Milliseconds that a client may read nothing of its answer before it is disconnected (contract D10). */
  answerTimeout: 60_000,
  /** Milliseconds that bytes behind a last answer are read and thrown away (contract B5). */
  lingerTimeout: 30_000,
  /** Milliseconds without a byte, after which the reading behind a last answer ends. */
  silenceTimeout: 5_000,
};

export interface Limits extends Readonly<typeof LIMITS> {
  /** Milliseconds that an idle connection stays: longer than at the load balancer, which has to close first. */
  readonly keepAliveTimeout: number;
  /** Sockets at a time; one more is closed at once, and the server emits `drop` (contract D13). */
  readonly maxConnections: number;
}
