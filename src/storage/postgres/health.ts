import type { LogEvent } from '../../events.ts';
import { messageOf } from '../../lib/errors.ts';
import { StoreBroken } from '../../shared-list/store.ts';
import { singleFlight } from '../list/single-flight.ts';
import { refusalLog, schemaLog } from '../refusals.ts';
import { hasCode, isIdTaken, refuserOf, SCHEMA_ERRORS } from './error.ts';
import type { Ask } from './postgres-connection.ts';
import { IN_ROWS, TO_SERVE } from './requirements.ts';
import type { StatementPool } from './statement-pool.ts';
import { faultOf, findUnmet } from './unmet-requirements.ts';

/** Milliseconds for which the result of the last check holds, and between two checks while something is missing. */
const CHECK_INTERVAL_MS = 5_000;

/** Times that a statement is sent, when the server refuses it by a schema that lacks nothing. */
const TRIES = 3;

/** Whether all parts are there (contract D11; D12). Looks again while one is missing; statements without it go on. */
export class SchemaHealth implements Disposable {
  readonly #database: StatementPool;
  #fault: string | undefined;
  /** Whether a column has another type, or a table is another one. Statements may succeed then, with wrong results. */
  #wrong = false;
  #knownAt = performance.now();
  readonly #logRefuser: ReturnType<typeof refusalLog>;
  readonly #logFault: ReturnType<typeof schemaLog>;
  #refreshing: NodeJS.Timeout | undefined;

  /** The schema is whole at first. Each later change is logged once. */
  constructor(database: StatementPool, logEvent: LogEvent) {
    this.#database = database;
    this.#logFault = schemaLog(logEvent);
    this.#logRefuser = refusalLog(logEvent);
  }

  /** Rejects as `ask` does, with `StoreBroken` where the schema is at fault. */
  async watch<T>(ask: () => Promise<T>, tries = 1): Promise<T> {
    if (this.#wrong) throw new StoreBroken(this.#fault);
    try {
      return await ask();
    } catch (error) {
      if (error instanceof StoreBroken) this.#logRefusal(error);
      if (await this.#isOfSchema(error)) throw new StoreBroken(this.#fault, { cause: error });
      const isLacking = hasCode(error, SCHEMA_ERRORS);
      // The missing part may be there again.
      if (isLacking && tries < TRIES) return this.watch(ask, tries + 1);
      if (!isLacking && !isIdTaken(error)) throw error;
      const refused = new StoreBroken(messageOf(error), { cause: error });
      this.#logRefusal(refused);
      throw refused;
    }
  }

  /** Rejects with `StoreBroken` while something is missing. */
  async check(): Promise<void> {
    if (performance.now() - this.#knownAt >= CHECK_INTERVAL_MS) await this.#refresh();
    if (this.#fault !== undefined) throw new StoreBroken(this.#fault);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#refreshing);
  }

  /** Whether the schema is at fault. An error of this kind that stays is a refusal by a part of others when nothing is missing. */
  async #isOfSchema(error: unknown): Promise<boolean> {
    if (!isIdTaken(error) && !hasCode(error, SCHEMA_ERRORS)) return false;
    // While something is missing, the timer repeats the check.
    if (this.#fault === undefined) await this.#refresh().catch(() => {});
    return this.#fault !== undefined;
  }

  #logRefusal({ message, cause }: StoreBroken): void {
    this.#logRefuser(refuserOf(cause) ?? message, message);
  }

  readonly #refresh = singleFlight(async () => {
    const ask: Ask = (statement) => this.#database.read(statement);
    const unmet = await findUnmet(ask, TO_SERVE, IN_ROWS);
    this.#wrong = unmet.wrong.length > 0;
    // The search path of a new session may lead to it.
    if (unmet.missing.length > 0) this.#database.retire();
    this.#fault = faultOf(unmet);
    this.#knownAt = performance.now();
    this.#logFault(this.#fault);
    clearInterval(this.#refreshing);
    // The end is logged even without requests. A failed check is followed by the next.
    if (this.#fault !== undefined)
      this.#refreshing = setInterval(() => this.#refresh().catch(() => {}), CHECK_INTERVAL_MS).unref();
  });
}
