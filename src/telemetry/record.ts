// The global is looked up by a getter: 20 ns more for each reading of the clock.
import { performance } from 'node:perf_hooks';
import type { Event, LogEvent, OnStep } from '../events.ts';
import type { Call } from '../http/call.ts';
import type { Environment } from '../settings/table.ts';

/** A request whose answer is out, or whose client has left. Times are those of `performance.now()`. */
export interface Ended {
  readonly call: Call;
  readonly from: number;
  readonly until: number;
  /** Undefined when the connection ended before the answer did. */
  readonly status: number | undefined;
  /** Whether the client closed the connection, or its side, before the end of the answer. */
  readonly isGivenUp: boolean;
}

/** Takes the steps of a request, and its end. */
interface Recorder {
  readonly onStep: OnStep;
  ended(ended: Ended): void;
}

/** Takes the records of all requests. */
interface RequestMetrics extends Recorder {
  begun(method: string): void;
}

/** Takes the records of the requests that are sampled. */
interface RequestTraces {
  begin(call: Call, from: number): Recorder | undefined;
}

/**
 * Begins the record of a request, whose steps and end go to metrics, traces and the log; undefined when none of these is
 * on. A record decides only the `traceId` of a request whose spans are sent.
 *
 * @param logEvent for a line per request.
 */
export function openRecords(
  environment: Environment,
  logEvent: LogEvent | undefined,
  metrics?: RequestMetrics,
  traces?: RequestTraces,
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

/** Methods that OpenTelemetry names. */
const METHODS = new Set('GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH'.split(' '));

/** The method of a request, or `_OTHER`. */
export function knownMethod(method: string): string {
  return METHODS.has(method) ? method : '_OTHER';
}

/** The class of an error, a closed list unlike its message; nothing without one. */
export function errorType(error: unknown): string {
  if (error === undefined) return '';
  return error instanceof Error ? error.name : '_OTHER';
}
