import { Pool, type PoolClient, type PoolConfig, type QueryConfig, type QueryResultRow } from 'pg';
import { type Connections, StoreUnavailable } from '../store.ts';
import { errorOf, isAnswer, mayBeRetried, messageOf } from './error.ts';

/** How long to wait, in milliseconds. */
export interface Limits {
  /** For a connection: one that is free, or a new one. */
  readonly connection: number;
  /** Until the server gives up a statement; then it is certain that nothing was changed. */
  readonly statement: number;
  /** For an answer. */
  readonly answer: number;
}

/** Milliseconds without traffic after which the kernel asks whether the other side still lives. */
const KEEP_ALIVE_DELAY = 10_000;

/** How often a statement is sent that the server undoes for the sake of others. */
const TRIES = 3;

/** A bounded pool of connections, with a bounded wait for one and for its answer. */
export class ConnectionPool implements AsyncDisposable {
  readonly #pool: Pool;

  /** @param onLost Hears why an idle connection ended; a new one is opened when it is needed. */
  constructor(config: PoolConfig, limits: Limits, onLost: (error: Error) => void) {
    this.#pool = new Pool({
      ...config,
      connectionTimeoutMillis: limits.connection,
      statement_timeout: limits.statement,
      query_timeout: limits.answer,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY,
    });
    // Without a listener each of these would end the process.
    this.#pool.on('error', onLost);
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /** The rows of a statement that changes nothing. */
  read<Row extends QueryResultRow>(query: QueryConfig): Promise<readonly Row[]> {
    return this.#run(query, 'read');
  }

  /**
   * The rows of a statement that may change something, committed on its own. When the server refuses it, for
   * example for a foreign key, it rejects with what the server said.
   */
  write<Row extends QueryResultRow>(query: QueryConfig): Promise<readonly Row[]> {
    return this.#run(query, 'write');
  }

  /**
   * As `read`, for rows that take their time.
   *
   * @param silence Milliseconds without any part of the answer after which the server counts as stalled.
   */
  async readMany<Row extends QueryResultRow>(query: QueryConfig, silence: number): Promise<readonly Row[]> {
    const client = await this.#pool.connect().catch(unavailable);
    const { stream } = client.connection;
    const silent = setTimeout(() => stream.destroy(), silence);
    const heard = (): void => {
      silent.refresh();
    };
    stream.on('data', heard);
    try {
      const { rows } = await client.query<Row>(query);
      client.release();
      return rows;
    } catch (error) {
      close(client);
      throw errorOf(error, 'read');
    } finally {
      clearTimeout(silent);
      stream.off('data', heard);
    }
  }

  counts(): Connections {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.end();
  }

  // Callbacks: with promises the driver captures a stack for each statement.
  #run<Row extends QueryResultRow>(query: QueryConfig, kind: 'read' | 'write'): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      let tries = 0;
      const attempt = (): void => {
        tries += 1;
        this.#pool.connect((refusal, client) => {
          if (client === undefined) return reject(unreachable(refusal));
          client.query<Row>(query, (error, result) => {
            if (error) {
              if (isAnswer(error)) client.release();
              else close(client);
              if (mayBeRetried(error) && tries < TRIES) return attempt();
              return reject(errorOf(error, kind));
            }
            client.release();
            resolve(result.rows);
          });
        });
      };
      attempt();
    });
  }
}

/** A stalled server would never answer a polite farewell. */
function close(client: PoolClient): void {
  client.connection.stream.destroy();
  client.release(true);
}

function unreachable(error: unknown): StoreUnavailable {
  return new StoreUnavailable(`No connection to the database: ${messageOf(error)}`, { cause: error });
}

function unavailable(error: unknown): never {
  throw unreachable(error);
}
