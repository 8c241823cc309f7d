import { admitWith } from './auth/admit.ts';
import type { Authenticate } from './auth/authenticate.ts';
import { errorDemoRoutes } from './error-demo/routes.ts';
import type { Tell } from './events.ts';
import { openCors } from './http/message/cors.ts';
import type { Route } from './http/message/routes.ts';
import type { Receive } from './http/transport/server.ts';
import { openRecords, type Recorders } from './observe/record.ts';
import { openPipeline, type PipelineParts } from './pipeline.ts';
import type { Environment } from './settings.ts';
import { answerStoreFault, sharedListRoutes } from './shared-list/routes.ts';
import type { TodoStore } from './store/store.ts';

/** What an application needs from outside, by profile. */
export interface Parts extends Pick<PipelineParts, 'tell' | 'listeners'> {
  readonly environment: Environment;
  readonly profile:
    | { readonly name: 'shared-list'; readonly store: TodoStore; readonly authenticate: Authenticate }
    | { readonly name: 'error-demo' };
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
  const { routes, ...others } = profileParts(profile, tell);
  const documented =
    environment === 'development'
      ? (await import('./openapi/routes.ts')).documentRoutes(profile.name, tell)
      : [];
  return openPipeline({
    ...others,
    routes: [...routes, ...(parts.routes ?? []), ...documented],
    tell,
    listeners,
    cors: corsOrigins.length === 0 ? undefined : openCors(corsOrigins),
    record: openRecords(recorders, environment),
  });
}

function profileParts(
  profile: Parts['profile'],
  tell: Tell,
): Pick<PipelineParts, 'routes' | 'admit' | 'answerFault'> {
  if (profile.name === 'error-demo') return { routes: errorDemoRoutes(tell) };
  return {
    routes: sharedListRoutes(profile.store, tell),
    admit: admitWith(profile.authenticate, tell),
    answerFault: answerStoreFault(tell),
  };
}
