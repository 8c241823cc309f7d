import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { traceIdOf } from '../observe/request-trace.ts';
import { say } from '../problem/doors.ts';
import { OutcomeUnknown, StoreBroken, StoreUnavailable } from './store.ts';

type ErrorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/** Seconds until a client may try again: a database is back, or free, sooner than a person notices. */
const RETRY_AFTER = '1';

/**
 * An error handler that tells a database in trouble from a bug: 503, with `Retry-After` where nothing was
 * changed and trying again helps (contract D9, D11). Whatever else was thrown goes on to `crash`.
 */
export function storeTrouble(log: Logger, crash: ErrorHandler): ErrorHandler {
  const warn = (event: string, request: FastifyRequest, { message }: Error) =>
    log.warn(
      { event, traceId: traceIdOf(request), reason: message },
      'the database did not do what was asked',
    );
  return (error, request, reply) => {
    if (error instanceof StoreUnavailable) {
      warn('store-unavailable', request, error);
      return say(reply.header('Retry-After', RETRY_AFTER), { status: 503 });
    }
    // The log has one line for the file, not one for each request.
    if (error instanceof StoreBroken) return say(reply, { status: 503 });
    if (error instanceof OutcomeUnknown) {
      warn('outcome-unknown', request, error);
      const detail = 'It is unknown whether the change was made. Read before repeating it.';
      return say(reply, { status: 503, detail });
    }
    return crash(error, request, reply);
  };
}
