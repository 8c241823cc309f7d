import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Listeners } from '../transport/listeners.ts';

/**
 * An `onSend` hook for what every answer has (contract D8), and `Connection: close` while the service drains.
 * Then an answer waits until the packet that its request came in has been read to its end: only the last of
 * pipelined answers may close.
 */
export function everyAnswer(listeners: Listeners) {
  return (
    _request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: null, payload?: unknown) => void,
  ): void => {
    reply.header('X-Content-Type-Options', 'nosniff');
    if (!listeners.draining) {
      done(null, payload);
      return;
    }
    setImmediate(() => {
      if (listeners.isLatest(reply.raw)) reply.header('Connection', 'close');
      done(null, payload);
    });
  };
}
