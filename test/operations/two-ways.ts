import { join } from 'node:path';
import { pino } from 'pino';
import { signer } from '../../conformance/src/sign.ts';
import { composeApp, type Parts } from '../../src/app.ts';
import { authenticateWith } from '../../src/auth/authenticate.ts';
import { fixedKeys } from '../../src/auth/keys/keys.ts';
import { fromSecret } from '../../src/auth/keys/verification-key.ts';
import { type Listeners, openListeners } from '../../src/http/transport/listeners.ts';
import type { Observer } from '../../src/observe/observer.ts';
import { openSqliteStore } from '../../src/shared-list/sqlite/open.ts';
import type { TodoStore } from '../../src/shared-list/store.ts';
import { temporaryFolder } from '../storage/folder.ts';
import { testAuth } from './list.ts';

/** Sees nothing; that it is there keeps a service from the short way. */
export const ONLOOKER: Observer = {
  watchStore: (store) => store,
  watchAuthenticate: (authenticate) => authenticate,
  watchRequests: () => {},
  committed: () => {},
};

/** One application on a real socket. Owned: `await using`. */
export interface Way extends AsyncDisposable {
  readonly url: string;
  readonly listeners: Listeners;
  /** How many requests have come to Fastify. */
  walked(): number;
}

/** What applications have in common. Owned: `await using`. */
export interface Shared extends AsyncDisposable {
  readonly store: TodoStore;
  readonly reader: string;
  readonly expired: string;
  /** How many milliseconds the clock that tokens are judged by is ahead. */
  readonly clock: { ahead: number };
  /** An application over the same store, with tokens remembered for all. */
  open(parts?: Partial<Parts>): Promise<Way>;
}

/** A store with the todos 1 and 2, and 3 that was removed. */
export async function openShared(): Promise<Shared> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await temporaryFolder());
  const store = parts.use(await openSqliteStore(join(folder.path, 'todos.db')));
  const auth = testAuth();
  const clock = { ahead: 0 };
  const log = pino({ level: 'silent' });
  const authenticate = authenticateWith(
    fixedKeys([fromSecret(auth.secret)], 'a secret'),
    { ...auth, claims: {}, clockToleranceSeconds: 0 },
    { log, now: () => Date.now() + clock.ahead },
  );
  const sign = signer(auth);
  const owned = parts.move();
  return {
    store,
    reader: sign({ name: 'bob' }),
    expired: sign({ exp: 1 }),
    clock,
    open: (more = {}) =>
      openWay({
        environment: 'production',
        log,
        profile: { name: 'shared-list', store, authenticate },
        ...more,
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function openWay(parts: Parts): Promise<Way> {
  const listeners = openListeners();
  const app = await composeApp({ ...parts, listeners });
  let walked = 0;
  app.addHook('onRequest', (_request, _reply, done) => {
    walked += 1;
    done();
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    listeners,
    walked: () => walked,
    async [Symbol.asyncDispose]() {
      await listeners.drain(0);
      await app.close();
    },
  };
}
