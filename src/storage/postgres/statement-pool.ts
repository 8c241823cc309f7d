import type { QueryResultRow } from 'pg';
import type { LogEvent } from '../../events.ts';
import { type PoolCounts, StoreNotWritable, StoreUnavailable } from '../../shared-list/store.ts';
import type { Cluster } from './cluster.ts';
import { NOT_SYNCED, UNLOGGED } from './durability.ts';
import { hasCode, OF_ALL_CONNECTIONS, OF_CONNECTION, OF_NAMES, RETRIABLE, toStoreError } from './error.ts';
import type { Ask, PostgresConnection, Statement } from './postgres-connection.ts';
import { ConnectionPool, type Limits, type OnConnection } from './postgres-connection-pool.ts';

/** The time of `performance.now()` after which a statement is not sent, not again either, and what is called when it is. */
export type When = readonly [sentBy?: number, onSent?: () => void];

/** Times that a statement is sent, at most, when the server undoes it for the sake of others. */
const TRIES = 3;

const STATE = `SELECT current_setting('in_hot_standby') = 'on' AS standby,
  current_setting('transaction_read_only') = 'on' AS "readOnly", coalesce(${NOT_SYNCED}, ${UNLOGGED}) AS "notDurable"`;

type State = Readonly<Record<'standby' | 'readOnly', boolean> & { notDurable: string | null }>;

/** SQL that is an error where row security would hide a row of a table. In one text, it is one transaction. */
const seeAllOf = (table: string): string => `SET LOCAL row_security = off; SELECT FROM ${table} LIMIT 0`;

/** Sends statements over a pool, with a bounded wait. Those that are safe to repeat are; errors are the store's. */
export class StatementPool implements AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #limits: Limits;
  readonly #pool: ConnectionPool;

  constructor(cluster: Cluster, limits: Limits, logEvent: LogEvent) {
    this.#cluster = cluster;
    this.#limits = limits;
    this.#pool = new ConnectionPool(cluster, limits, logEvent);
  }

  counts(): PoolCounts {
    return this.#pool.counts();
  }

  /** Takes every open connection out of use. */
  retire(): void {
    this.#cluster.retire();
  }

  /** Waits for the running statements, and for the server to release the connections. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]();
  }

  /** The rows of a statement that changes nothing. */
  read<Row extends QueryResultRow>(statement: Statement): Promise<readonly Row[]> {
    return this.#run(statement, 'read');
  }

  /** The rows of a statement that may change something, committed on its own. Errors about it are passed on. */
  write<Row extends QueryResultRow>(statement: Statement, ...when: When): Promise<readonly Row[]> {
    return this.#run(statement, 'write', when);
  }

  /**
   * The result of `work` with statements that change nothing. They see the database as it is at one moment. A transaction
   * that the server undoes for the sake of others is begun again. An answer may take longer than `answerMs`, as long as
   * parts of it come.
   *
   * @param first A statement that takes no snapshot. It is in the text that begins the transaction.
   */
  async transaction<T>(first: string, work: (ask: Ask) => Promise<T>, tries = 1): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<PostgresConnection>();
    this.#pool.take((failure, taken) => (taken === undefined ? reject(failure) : resolve(taken)));
    const connection = await promise;
    const { statementMs, answerMs } = this.#limits;
    const limit = { withinMs: answerMs, parts: true };
    const heard = <Answer>(asked: Promise<Answer>): Promise<Answer> =>
      asked.catch((error: unknown) => {
        this.#learn(error);
        throw toStoreError(error, 'read');
      });
    try {
      await heard(connection.begin(statementMs, 'ISOLATION LEVEL REPEATABLE READ READ ONLY', limit, first));
      const made = await work((statement) => heard(connection.run(statement, limit)));
      await heard(connection.end('COMMIT', limit));
      this.#pool.put(connection);
      return made;
    } catch (error) {
      this.#pool.drop(connection);
      if (error instanceof StoreUnavailable && hasCode(error.cause, RETRIABLE) && tries < TRIES) {
        return this.transaction(first, work, tries + 1);
      }
      throw error;
    }
  }

  /**
   * Rejects when row security may have hidden a row that was not found, as the server does elsewhere. Asks only where a
   * pooler has dropped the setting that makes the server report it itself.
   */
  async checkNoneHidden(table: 'todos' | 'categories' | 'idempotency_keys'): Promise<void> {
    if (this.#cluster.mayHideRows) await this.read(seeAllOf(table));
  }

  /** Rejects without an answer; and, with open connections out of use, without writes or where a crash loses them. */
  async check(): Promise<void> {
    const [state] = await this.read<State>({ name: 'check', text: STATE });
    if (state === undefined) throw new StoreUnavailable('The database said nothing of itself');
    if (state.readOnly) {
      this.retire();
      throw new StoreNotWritable(state.standby ? 'The database is a standby' : 'The database is read-only');
    }
    if (state.notDurable !== null) {
      this.retire();
      throw new StoreUnavailable(state.notDurable);
    }
  }

  /** Takes open connections out of use where an error says that none can be used as it is. */
  #learn(error: unknown): void {
    if (hasCode(error, OF_ALL_CONNECTIONS)) this.retire();
    if (hasCode(error, OF_NAMES)) this.#cluster.stopPreparing();
  }

  // Callbacks: with promises the driver captures a stack for each statement.
  #run<Row extends QueryResultRow>(
    statement: Statement,
    kind: 'read' | 'write',
    [sentBy = Number.POSITIVE_INFINITY, onSent]: When = [],
  ): Promise<readonly Row[]> {
    const { connectionMs, answerMs } = this.#limits;
    const leftMs = (): number => Math.ceil(sentBy - performance.now());
    return new Promise((resolve, reject) => {
      let tries = 0;
      let repeated = kind === 'write';
      const send = (): void => this.#pool.take(attempt, Math.min(connectionMs, leftMs()));
      const attempt: OnConnection = (failure, connection) => {
        if (connection === undefined) return reject(failure);
        tries += 1;
        onSent?.();
        connection.ask<Row>(statement, { withinMs: answerMs }, (error, rows) => {
          this.#learn(error);
          if (hasCode(error, OF_CONNECTION)) this.#pool.drop(connection);
          else this.#pool.put(connection);
          if (error === undefined) return resolve(rows);
          const elsewhere = hasCode(error, OF_CONNECTION) && !repeated;
          repeated ||= elsewhere;
          const isSafe = elsewhere || (hasCode(error, RETRIABLE) && tries < TRIES);
          if (isSafe && leftMs() > 0) send();
          else reject(toStoreError(error, kind));
        });
      };
      if (leftMs() > 0) send();
      else reject(new StoreUnavailable('There is no time left to send a statement'));
    });
  }
}
