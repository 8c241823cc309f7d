import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { composeApp, type Parts } from './app.ts';
import type { Config, SharedListConfig } from './config.ts';
import { openListeners } from './http/listeners.ts';

/**
 * A service that answers. Disposing it answers what was received, then closes store and keys, after at most the
 * delay and the deadline of `serving` and what the store needs to close.
 */
export interface Service extends AsyncDisposable {
  /** For example `http://127.0.0.1:5080`. */
  readonly url: string;
  /** Lines for people about where the data and the keys are. */
  readonly about: readonly string[];
}

/**
 * Opens store, keys and server from a configuration.
 *
 * @throws {StoreNotOpened} when the database cannot be used; the error of `listen` when the port cannot.
 */
export async function openService(config: Config, log: Logger): Promise<Service> {
  await using parts = new AsyncDisposableStack();
  const { profile, about } = await openProfile(config.profile, log, parts);
  const { maxConnections, shutdownSeconds, shutdownDelaySeconds } = config.serving;
  const listeners = openListeners({ limits: { maxConnections } });
  const app = await composeApp({ environment: config.environment, log, profile, listeners });
  parts.defer(() => app.close());
  await app.listen({ host: config.host, port: config.port });
  parts.defer(() => listeners.drain(shutdownSeconds * 1_000));
  parts.defer(() => pause(shutdownDelaySeconds * 1_000));
  const owned = parts.move();
  return { url: urlOf(app.server.address()), about, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function openProfile(profile: Config['profile'], log: Logger, parts: AsyncDisposableStack) {
  if (profile.name === 'error-demo') return { profile, about: ['database   none: todos are kept in memory'] };
  return openSharedList(profile, log, parts);
}

/** Imports what the error demo does not need. */
async function openSharedList(
  { name, database, auth }: SharedListConfig,
  log: Logger,
  parts: AsyncDisposableStack,
): Promise<{ profile: Parts['profile']; about: readonly string[] }> {
  const { openSqliteStore } = await import('./shared-list/sqlite/open.ts');
  const { openAuthenticator } = await import('./auth/open.ts');
  const store = parts.use(await openSqliteStore(database.path));
  const authenticator = parts.use(await openAuthenticator(auth, { log }));
  return {
    profile: { name, store, authenticate: authenticator.authenticate },
    about: [`database   sqlite:${database.path}`, `tokens     ${authenticator.describe()}`],
  };
}

function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string')
    throw new Error('Cannot name the URL: the server has no port');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
