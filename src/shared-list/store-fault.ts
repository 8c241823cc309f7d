import type { Logger } from 'pino';
import type { Fail } from '../http/message/to-problem.ts';
import type { Audit } from '../observe/audit.ts';
import { OutcomeUnknown, StoreBroken, StoreUnavailable } from '../store/store.ts';
import { BROKEN, OUTCOME_UNKNOWN, UNAVAILABLE } from './answers.ts';

/**
 * Tells a database in trouble from a bug: 503, with `Retry-After` where nothing was changed and trying again
 * helps (contract D9, D11). Whatever else was thrown is for `otherwise`.
 */
export function storeFault(log: Logger, audit: Pick<Audit, 'outcomeUnknown'>, otherwise: Fail): Fail {
  return (error, call) => {
    if (error instanceof StoreUnavailable) {
      log.warn({ event: 'store-unavailable', traceId: call.traceId, reason: error.message }, NOT_DONE);
      return UNAVAILABLE;
    }
    // The log has one line for the file or the schema, not one for each request.
    if (error instanceof StoreBroken) return BROKEN;
    if (error instanceof OutcomeUnknown) {
      audit.outcomeUnknown(call);
      log.warn({ event: 'outcome-unknown', traceId: call.traceId, reason: error.message }, NOT_DONE);
      return OUTCOME_UNKNOWN;
    }
    return otherwise(error, call);
  };
}

const NOT_DONE = 'the database did not do what was asked';
