import { type Admit, admitWith } from './auth/admit.ts';
import type { Authenticate } from './auth/authenticate.ts';
import { errorDemoRoutes } from './error-demo/routes.ts';
import type { Tell } from './events.ts';
import { openCors } from './http/message/cors.ts';
import type { Route } from './http/message/routes.ts';
import { crash, type Fail } from './http/message/to-problem.ts';
import type { Listeners } from './http/transport/listeners.ts';
import type { Receive } from './http/transport/server.ts';
import { openRecords, type Recorders } from './observe/record.ts';
import { openPipeline } from './pipeline.ts';
import type { Environment } from './settings.ts';
import { sharedListRoutes } from './shared-list/routes.ts';
import { storeFault } from './shared-list/store-fault.ts';
import type { TodoStore } from './store/store.ts';

/** What an application needs from outside, by profile. */
export interface Parts {
  readonly environment: Environment;
  readonly tell: Tell;
  readonly profile:
    | { readonly name: 'shared-list'; readonly store: TodoStore; readonly authenticate: Authenticate }
    | { readonly name: 'error-demo' };
  /** Whose requests these are. */
  readonly listeners: Pick<Listeners, 'draining'>;
  /** Who wants to know of requests; nobody by default. */
  readonly recorders?: Recorders;
  /** Origins whose browser applications are let in; none by default. */
  readonly corsOrigins?: readonly string[];
  /** Beside those of the profile; none by default. */
  readonly routes?: readonly Route[];
}

/** Composes the application: what is done with a request that has passed request validation. */
export async function composeApp(parts: Parts): Promise<Receive> {
  const { environment, tell, profile, listeners, recorders = {}, corsOrigins = [] } = parts;
  const { routes: own, admit, fail } = open(profile, tell);
  const routes = [...own, ...(parts.routes ?? [])];
  checkAccess(profile, routes);
  if (environment === 'development') {
    const { documentRoutes } = await import('./openapi/routes.ts');
    routes.push(...documentRoutes(profile.name, tell));
  }
  return openPipeline({
    routes,
    admit,
    fail,
    tell,
    listeners,
    cors: corsOrigins.length === 0 ? undefined : openCors(corsOrigins),
    record: openRecords(recorders, environment),
  });
}

function open(profile: Parts['profile'], tell: Tell): { routes: readonly Route[]; admit: Admit; fail: Fail } {
  if (profile.name === 'error-demo') {
    return { routes: errorDemoRoutes(tell), admit: () => undefined, fail: crash(tell) };
  }
  return {
    routes: sharedListRoutes(profile.store, tell),
    admit: admitWith(profile.authenticate, tell),
    fail: storeFault(tell, crash(tell)),
  };
}

function checkAccess({ name }: Parts['profile'], routes: readonly Route[]): void {
  if (name === 'error-demo' && routes.some(({ access }) => access !== 'open'))
    throw new Error('Cannot start: the error demo has no authentication');
}
