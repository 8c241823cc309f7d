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

/**
 * Whether all parts are there (contract D11; D12). Looks again while one is missing; statements without it go on. The
 * schema is whole at first. Each later change is logged once.
 */
export function openSchemaHealth(database: StatementPool, logEvent: LogEvent) {
  const logFault = schemaLog(logEvent);
  const logRefuser = refusalLog(logEvent);
  let fault: string | undefined;
  /** Whether a column has another type, or a table is another one. Statements may succeed then, with wrong results. */
  let isWrong = false;
  let knownAt = performance.now();
  let refreshing: NodeJS.Timeout | undefined;

  const refresh = singleFlight(async () => {
    const ask: Ask = (statement) => database.read(statement);
    const unmet = await findUnmet(ask, TO_SERVE, IN_ROWS);
    isWrong = unmet.wrong.length > 0;
    // The search path of a new session may lead to it.
    if (unmet.missing.length > 0) database.retire();
    fault = faultOf(unmet);
    knownAt = performance.now();
    logFault(fault);
    clearInterval(refreshing);
    // The end is logged even without requests. A failed check is followed by the next.
    if (fault !== undefined)
      refreshing = setInterval(() => refresh().catch(() => {}), CHECK_INTERVAL_MS).unref();
  });

  const logRefusal = ({ message, cause }: StoreBroken) => logRefuser(refuserOf(cause) ?? message, message);

  /** Rejects as `ask` does, with `StoreBroken` where the schema is at fault. */
  async function watch<T>(ask: () => Promise<T>, tries = 1): Promise<T> {
    if (isWrong) throw new StoreBroken(fault);
    try {
      return await ask();
    } catch (error) {
      if (error instanceof StoreBroken) logRefusal(error);
      const isLacking = hasCode(error, SCHEMA_ERRORS);
      if (!isLacking && !isIdTaken(error)) throw error;
      // While something is missing, the timer repeats the check.
      if (fault === undefined) await refresh().catch(() => {});
      if (fault !== undefined) throw new StoreBroken(fault, { cause: error });
      // The missing part may be there again. An error that stays is a refusal by a part of others.
      if (isLacking && tries < TRIES) return watch(ask, tries + 1);
      const refused = new StoreBroken(messageOf(error), { cause: error });
      logRefusal(refused);
      throw refused;
    }
  }

  return {
    watch,
    /** Rejects with `StoreBroken` while something is missing. */
    async check(): Promise<void> {
      if (performance.now() - knownAt >= CHECK_INTERVAL_MS) await refresh();
      if (fault !== undefined) throw new StoreBroken(fault);
    },
    [Symbol.dispose]: () => clearInterval(refreshing),
  };
}
