import type { LogEvent } from '../events.ts';
import { followOutage } from '../lib/outage.ts';

/** Takes what the schema lacks, or that it lacks nothing; logs the outage (contract D11). */
export function schemaLog(logEvent: LogEvent): (fault: string | undefined) => void {
  const isTold = followOutage();
  return (fault) => {
    if (!isTold(fault)) return;
    logEvent(fault === undefined ? { event: 'schema-mended' } : { event: 'schema-broken', reason: fault });
  };
}

/** Parts that refuse a write, of which each has a line of the log, at most. */
const MAX_REFUSERS = 100;

/** The reason why a create has no id, or a todo that is there was not changed. */
export const LEFT_OUT = 'a trigger that is not of this program leaves out a row';

/** Logs what refuses a write, once until a restart (contract D11). It concerns that write alone. */
export function refusalLog(logEvent: LogEvent): (refuser: string, reason?: string) => void {
  const refusers = new Set<string>();
  return (refuser, reason = refuser) => {
    if (refusers.has(refuser) || refusers.size === MAX_REFUSERS) return;
    refusers.add(refuser);
    logEvent({ event: 'schema-refuses', reason });
  };
}
