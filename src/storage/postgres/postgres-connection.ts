import { type Client, DatabaseError, type QueryConfig, type QueryResultRow } from 'pg';
import { timeLimit } from '../../lib/promises.ts';
import { OutcomeUnknown } from '../../shared-list/store.ts';
import type { Address, Host } from './address.ts';
import { cancel, type ProcessKey, processOf, type ServerProcess } from './cancel.ts';
import { addContext, hasCode, IDLE_SESSION_TIMEOUT, NO_TRANSACTION, NOT_KEPT } from './error.ts';
import { beginning } from './transaction.ts';

/** Milliseconds for a server to release a connection before it is asked to cancel its statement, again and again. */
const FAREWELL_MS = 1_000;

/** Milliseconds from the first request to cancel that the server has read: a connection may stand still (contract D9). */
const LAST_MS = 5_000;

/** pgpool-II sends a statement that begins with this comment to the primary (contract D14). */
const NO_LOAD_BALANCE = '/*NO LOAD BALANCE*/';

/** The function of the server that warns of a wait that was cancelled. The server does not translate its name. */
const REPLICATION_WAIT = 'SyncRepWaitForLSN';

/** The change is made, but a failover may lose it. */
const NOT_REPLICATED = 'the wait for a synchronous standby was cancelled';

/** Milliseconds for a statement of an operator, or of the start: a migration, and the wait for another instance's. */
export const PATIENT_MS = 60_000;

/** SQL; with a name, a statement that is prepared once on each connection. */
export type Statement = string | QueryConfig;

export type Ask = <Row extends QueryResultRow>(statement: Statement) => Promise<readonly Row[]>;

export interface AnswerLimit {
  /** Milliseconds until the answer is there; with `parts`, until the next part of it is. */
  readonly withinMs: number;
  readonly parts?: boolean;
}

type OnRows<Row> = (error: unknown, rows: readonly Row[]) => void;

/** A connection to one server. It works on one statement at a time. */
export class PostgresConnection {
  readonly host: Host;
  /** Whether a pooler or balancer stands between: the settings of a session may be lost. */
  pooled = false;
  /** Whether the server knows `transaction_timeout`, as PostgreSQL does since 17. */
  endsTransactions = false;
  /** Whether the server keeps a statement with a name, and its plan. */
  prepares = false;
  readonly openedAt = performance.now();
  /** The time of the server's last message that it is ready for a statement. */
  readyAt = this.openedAt;
  readonly #client: Client;
  /** The process that serves the connection, once the server has named it. */
  #process: ServerProcess | undefined;
  /** Whether a statement was sent, and the server has not said that it is ready for another. */
  #working = false;
  /** State of the transaction, by the server's last message; "I" is none. */
  #status = 'I';
  /** Whether a transaction was begun, and its end was not sent: each answer must leave it open (contract D26). */
  #inside = false;
  /** Called behind an error of the server: when it is ready for another statement, or at the end. */
  #afterError: ((ready: boolean) => void) | undefined;
  /** What a notice of the server says against the statement. */
  #doubt: Error | undefined;
  #lost: Error | undefined;
  #ended = false;
  #changed = (): void => {};
  readonly #left = Promise.withResolvers<void>();
  /** Resolves after `leave`, when the server has released the connection, cannot be reached, or its time is over. */
  readonly left = this.#left.promise;

  constructor(client: Client, host: Host, config: Address['config']) {
    this.#client = client;
    this.host = host;
    const { connection } = client;
    connection.once('backendKeyData', (key: ProcessKey) => {
      this.#process = processOf(key, connection.stream, host, config);
    });
    // Comes before the driver's own listener, which hands it on.
    connection.prependListener('errorMessage', addContext);
    // Comes before the driver's own listener, which may send the next statement at once.
    connection.prependListener('readyForQuery', ({ status }: { readonly status: string }) => {
      this.readyAt = performance.now();
      this.#status = status;
      this.#rest(true);
    });
    client.on('notice', ({ code, routine }) => {
      if (routine === REPLICATION_WAIT) this.#doubt = new OutcomeUnknown(NOT_REPLICATED);
      // Inside, pgpool-II hands on what a standby says, where no transaction was begun.
      if (code !== undefined && NO_TRANSACTION.includes(code) && !this.#inside)
        this.#doubt = this.#lost ??= new Error(NOT_KEPT);
    });
    // Without a listener, a connection that is lost between two statements would end the process.
    client.on('error', (error) => {
      this.#lost ??= error;
    });
    connection.once('end', () => {
      this.#ended = true;
      if (this.#afterError === undefined) this.#changed();
      else this.#rest(false);
    });
  }

  /** The number of the process that answered the login; a pooler has a number of its own. */
  get processId(): number | undefined {
    return this.#process?.processID;
  }

  /** The reason why the connection can be used no more, or undefined. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  get inTransaction(): boolean {
    return this.#status !== 'I';
  }

  /** Sends a statement. After an error that is not the server's, its state is unknown: the connection must `leave`. */
  ask<Row extends QueryResultRow>(
    statement: Statement,
    { withinMs, parts = false }: AnswerLimit,
    onRows: OnRows<Row>,
  ): void {
    const query = typeof statement === 'string' ? { text: statement } : statement;
    const { stream } = this.#client.connection;
    let heard = false;
    const settle = (error: unknown, rows: readonly Row[] = []): void => {
      if (heard) return;
      heard = true;
      limit.clear();
      if (parts) stream.off('data', limit.refresh);
      onRows(error, rows);
    };
    const lose = (why: string, cause?: unknown): void => {
      this.#lost ??= new Error(why, { cause });
      settle(this.#lost);
    };
    const limit = timeLimit(withinMs, () => lose(`no answer in ${withinMs} ms`));
    if (parts) stream.on('data', limit.refresh);
    this.#working = true;
    this.#doubt = undefined;
    const text = NO_LOAD_BALANCE + query.text;
    const name = this.prepares ? query.name : undefined;
    this.#client.query<Row>({ ...query, text, name }, (error, result) => {
      // An ERROR leaves a connection that is ready again, a FATAL none; both words are in the server's language.
      if (error instanceof DatabaseError) {
        this.#afterError = (ready) => {
          if (hasCode(error, NO_TRANSACTION)) lose(NOT_KEPT, error);
          else if (ready || hasCode(error, IDLE_SESSION_TIMEOUT)) settle(error);
          else lose(error.message, error);
        };
      } else if (error) lose(error.message, error);
      // A statement that was done has a tag. For several in one text, the driver gives a list of results with tags.
      else if (result.command === null) lose('an answer without a result');
      else if (this.#inside && !this.inTransaction) lose(NOT_KEPT);
      else settle(this.#doubt, result.rows);
    });
  }

  /** As `ask`, for rare statements. */
  run<Row extends QueryResultRow>(
    statement: Statement,
    limit: AnswerLimit = { withinMs: PATIENT_MS },
  ): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      this.ask<Row>(statement, limit, (error, rows) => (error ? reject(error) : resolve(rows)));
    });
  }

  /** @param first In the text that begins it. Like all of that, it takes no snapshot. */
  async begin(
    statementMs: number,
    mode: string,
    limit?: AnswerLimit,
    ...first: readonly string[]
  ): Promise<void> {
    this.#inside = true;
    await this.run([...beginning(mode, statementMs, this.endsTransactions), ...first].join('; '), limit);
  }

  async end(how: 'COMMIT' | 'ROLLBACK', limit?: AnswerLimit): Promise<void> {
    this.#inside = false;
    await this.run(how, limit);
  }

  /**
   * Runs `work` in one transaction, whatever the role's own settings are: it may take long, and each statement sees the
   * changes that others have committed before it. A rollback waits for no synchronous standby.
   */
  async transaction<T>(
    work: (ask: Ask) => Promise<T>,
    end: 'COMMIT' | 'ROLLBACK' = 'COMMIT',
    mode = 'ISOLATION LEVEL READ COMMITTED',
  ): Promise<T> {
    try {
      await this.begin(PATIENT_MS, mode);
      const made = await work((statement) => this.run(statement));
      await this.end(end);
      return made;
    } catch (error) {
      if (this.inTransaction) await this.end('ROLLBACK').catch(() => {});
      this.#inside = false;
      throw error;
    }
  }

  /** Ends the connection politely, or cancels its statement, again and again. Called once; resolves as `left` does. */
  async leave(): Promise<void> {
    const isOver = () => this.#ended && !this.#working;
    let last: NodeJS.Timeout | undefined;
    for (let farewell = false; !isOver(); ) {
      if (this.#working || farewell) {
        const outcome = this.#process === undefined ? 'unreachable' : await cancel(this.#process);
        if (outcome === 'unreachable' || (this.#ended && outcome === 'delivered')) break;
        if (outcome === 'delivered') last ??= setTimeout(() => this.destroy(), LAST_MS).unref();
      }
      if (!this.#working && !farewell) {
        farewell = true;
        void this.#client.end();
      }
      if (!isOver()) await this.#change();
    }
    clearTimeout(last);
    this.destroy();
  }

  /** Ends the connection on this side, whatever the server does. */
  destroy(): void {
    this.#ended = true;
    this.#working = false;
    this.#client.connection.stream.destroy();
    this.#left.resolve();
    this.#changed();
  }

  /** Resolves at a change of the connection, or after a while. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve;
      setTimeout(resolve, FAREWELL_MS).unref();
    });
  }

  /** Called when the server works on nothing any more. */
  #rest(ready: boolean): void {
    this.#working = false;
    const hear = this.#afterError;
    this.#afterError = undefined;
    hear?.(ready);
    this.#changed();
  }
}
