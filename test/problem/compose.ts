import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { composeApp } from '../../src/app.ts';

/** An error demo of the test's own, with routes that the test adds, on a real socket. Owned: `await using`. */
export interface Composed extends AsyncDisposable {
  readonly url: string;
  /** The log so far, a parsed line each. */
  readonly log: readonly Record<string, unknown>[];
}

/** Composes the application, lets `extend` add routes, and listens on a free port. */
export async function compose(extend: (app: FastifyInstance) => void, level = 'info'): Promise<Composed> {
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level }, { write: (line: string) => log.push(JSON.parse(line)) });
  const app = await composeApp({ environment: 'production', log: logger, profile: { name: 'error-demo' } });
  extend(app);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url, log, [Symbol.asyncDispose]: () => app.close() };
}
