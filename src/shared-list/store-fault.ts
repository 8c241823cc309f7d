import { actor, type Tell } from '../events.ts';
import type { Fail } from '../http/message/to-problem.ts';
import { OutcomeUnknown, StoreBroken, StoreUnavailable } from '../store/store.ts';
import { BROKEN, OUTCOME_UNKNOWN, UNAVAILABLE } from './answers.ts';

/**
 * Tells a database in trouble from a bug: 503, with `Retry-After` where nothing was changed and trying again
 * helps (contract D9, D11). Whatever else was thrown is for `otherwise`.
 */
export function storeFault(tell: Tell, otherwise: Fail): Fail {
  return (error, call) => {
    if (error instanceof StoreUnavailable) {
      tell({ event: 'store-unavailable', traceId: call.traceId, reason: error.message });
      return UNAVAILABLE;
    }
    // The log has one line for the file or the schema, not one for each request.
    if (error instanceof StoreBroken) return BROKEN;
    if (error instanceof OutcomeUnknown) {
      const { method, found, identity, traceId } = call;
      tell({ event: 'todo-outcome-unknown', method, id: found?.id, ...actor(identity), traceId });
      tell({ event: 'outcome-unknown', traceId, reason: error.message });
      return OUTCOME_UNKNOWN;
    }
    return otherwise(error, call);
  };
}
