import type { Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { composeApp } from '../../src/app.ts';
import { type Listeners, type ListenersOptions, openListeners } from '../../src/http/transport/listeners.ts';

/** An error demo in this process, on a real socket, with limits and routes of the test's own. Owned: `await using`. */
export interface Demo extends AsyncDisposable {
  readonly url: string;
  readonly listeners: Listeners;
  readonly server: Server;
}

export async function startDemo(
  options: ListenersOptions = {},
  extend: (app: FastifyInstance) => void = () => {},
): Promise<Demo> {
  const listeners = openListeners(options);
  const log = pino({ level: 'silent' });
  const app = await composeApp({
    environment: 'production',
    log,
    profile: { name: 'error-demo' },
    listeners,
  });
  extend(app);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    listeners,
    server: app.server,
    async [Symbol.asyncDispose]() {
      await listeners.drain(0);
      await app.close();
    },
  };
}
