import type { Logger } from 'pino';
import type { Environment } from '../settings.ts';
import type { WatchRequest } from './observer.ts';

/**
 * Writes a line per answered request at level debug: its method, the pattern of its route (in development the path that
 * was asked for), its status, the time from its head to the end of its answer, and its `traceId`. Never a token, a body,
 * a query or an unmatched path. Undefined when nobody reads that level.
 */
export function requestLines(log: Logger, environment: Environment): WatchRequest | undefined {
  if (!log.isLevelEnabled('debug')) return undefined;
  return (call, go) => {
    const from = performance.now();
    const { response } = call;
    response.once('close', () => {
      if (!response.writableFinished) return;
      const milliseconds = Math.round((performance.now() - from) * 1000) / 1000;
      const { method, found, request, traceId } = call;
      const pattern = found?.path ?? '(no route)';
      const route = found && environment === 'development' ? request.url : pattern;
      const status = response.statusCode;
      log.debug({ event: 'request', method, route, status, milliseconds, traceId }, 'request');
    });
    go();
  };
}
