// The global is looked up by a getter: 20 ns more for each reading of the clock.
import { performance } from 'node:perf_hooks';
import type { Event, LogEvent } from '../events.ts';
import type { Call } from '../http/call.ts';
import type { Environment } from '../settings/table.ts';
import type { Ended } from './ended.ts';
import type { Metrics } from './metrics.ts';
import type { Traces } from './traces.ts';

/**
 * Begins the record of a request, whose steps and end go to metrics, traces and the log; undefined when none of these is
 * on. A record decides only the `traceId` of a request whose spans are sent.
 *
 * @param logEvent for a line per request.
 */
export function openRecords(
  environment: Environment,
  logEvent: LogEvent | undefined,
  metrics?: Pick<Metrics, 'begun' | 'onStep' | 'ended'>,
  traces?: Pick<Traces, 'begin'>,
): ((call: Call) => void) | undefined {
  if (logEvent === undefined && metrics === undefined && traces === undefined) return undefined;
  return (call) => {
    const from = performance.now();
    const spans = traces?.begin(call, from);
    if (logEvent === undefined && metrics === undefined && spans === undefined) return;
    metrics?.begun(call.method);
    call.onStep =
      spans === undefined
        ? metrics?.onStep
        : (step) => {
            metrics?.onStep(step);
            spans.onStep(step);
          };
    const { request, response } = call;
    const end = (): void => {
      const status = response.writableFinished ? response.statusCode : undefined;
      const isGivenUp = status === undefined || request.socket.readableEnded;
      const ended = { call, from, until: performance.now(), status, isGivenUp };
      metrics?.ended(ended);
      spans?.ended(ended);
      if (status !== undefined) logEvent?.(eventOf(ended, environment));
    };
    // A client may leave while its request waits until the listener has closed.
    if (response.destroyed) end();
    else response.on('close', end);
  };
}

/**
 * An answered request: its method, the pattern of its route (in development the path that was asked for), its status, its
 * time and its `traceId`. Never a token, a body, a query or an unmatched path.
 */
function eventOf({ call, from, until }: Ended, environment: Environment): Event {
  const { method, found, request, response, traceId } = call;
  const pattern = found?.path ?? '(no route)';
  const route = found && environment === 'development' ? request.url : pattern;
  const milliseconds = Math.round((until - from) * 1000) / 1000;
  return { event: 'request', method, route, status: response.statusCode, milliseconds, traceId };
}
