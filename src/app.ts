import type { RequestListener } from 'node:http';
import { type FastifyInstance, fastify } from 'fastify';
import type { Logger } from 'pino';
import { type Access, admit } from './auth/admit.ts';
import type { Authenticate } from './auth/authenticate.ts';
import type { Environment } from './environment.ts';
import { errorDemoRoutes } from './error-demo/routes.ts';
import { openCors } from './http/message/cors.ts';
import { everyAnswer } from './http/message/every-answer.ts';
import { knowAllMethods, matchId, methodsByPath } from './http/message/match.ts';
import { closeUnread, receive } from './http/message/receive.ts';
import { type Listeners, openListeners } from './http/transport/listeners.ts';
import type { Observer } from './observe/observer.ts';
import { logRequest, requestLines } from './observe/request-line.ts';
import { crashDoor, dress } from './problem/doors.ts';
import { sharedListRoutes } from './shared-list/routes.ts';
import { shortWay } from './shared-list/short-way.ts';
import type { TodoStore } from './shared-list/store.ts';
import { storeTrouble } from './shared-list/store-trouble.ts';

/** What an application needs from outside, by profile. */
export interface Parts {
  readonly environment: Environment;
  readonly log: Logger;
  readonly profile:
    | { readonly name: 'shared-list'; readonly store: TodoStore; readonly authenticate: Authenticate }
    | { readonly name: 'error-demo' };
  /** Where connections come in; new ones of its own by default. */
  readonly listeners?: Listeners;
  /** Who looks on at requests; nobody by default. */
  readonly observers?: readonly Observer[];
  /** Origins whose browser applications are let in; none by default. */
  readonly corsOrigins?: readonly string[];
}

/**
 * Composes the application. The order in which a request walks through it is written here and nowhere else:
 * receive → match → admit → parse → handle, and on the way back crash and dress. Before all of it the strict look
 * of `listeners`, and then, while nobody looks on, the short way: an abbreviation of this walk, not another one.
 */
export async function composeApp(parts: Parts): Promise<FastifyInstance> {
  const { environment, log, profile, listeners = openListeners(), observers = [], corsOrigins = [] } = parts;
  const cors = corsOrigins.length === 0 ? undefined : openCors(corsOrigins);
  const writeLine = requestLines(log);
  const watched = observers.length > 0 || cors !== undefined;
  const abbreviate = (walk: RequestListener) =>
    watched || profile.name === 'error-demo' ? walk : shortWay({ ...profile, listeners, writeLine }, walk);
  const app = fastify({
    serverFactory: (walk) => listeners.create(abbreviate(walk)),
    // The strict server has answered already; Fastify would add an answer of its own.
    clientErrorHandler: () => {},
    routerOptions: { ignoreTrailingSlash: true, caseSensitive: false, maxParamLength: 16_384 },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    logger: false,
    // Without factories Fastify loads compilers that the two below make needless.
    schemaController: { compilersFactory: { buildValidator: needless, buildSerializer: needless } },
  });
  knowAllMethods(app);
  // Schemas serve the document alone: what a body must be is decided by the parsers of the routes.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);

  app.decorateReply('problem', null);
  app.decorateRequest('traceId', '');
  app.decorateRequest('received', null);
  app.decorateRequest('identity', null);
  app.decorateRequest('todoId', 0);

  for (const observer of observers) observer.watchRequests(app);
  app.addHook('onRequest', receive);
  app.addHook('onSend', dress);
  cors?.register(app);
  app.addHook('onSend', everyAnswer(listeners));
  app.addHook('onSend', closeUnread);
  if (writeLine !== undefined) app.addHook('onResponse', logRequest(writeLine));
  const crash = crashDoor(log);
  app.setErrorHandler(profile.name === 'shared-list' ? storeTrouble(log, crash) : crash);
  app.setNotFoundHandler((_request, reply) => reply.code(404).send());

  const known = methodsByPath(cors);
  app.addHook('onRoute', (route) => {
    if (route.config === undefined || !('access' in route.config)) {
      throw new Error(`Cannot start: the route ${route.method} ${route.url} must state its access`);
    }
    known.note(route);
    const access = route.config.access as Access;
    const gate = access === 'open' ? [] : [gateOf(profile, access)];
    route.onRequest = route.url.includes(':id') ? [matchId, ...gate] : gate;
  });

  if (environment === 'development') {
    const { serveDocument } = await import('./openapi/serve.ts');
    await serveDocument(app, profile.name);
  }
  if (profile.name === 'shared-list') sharedListRoutes(app, profile.store);
  else errorDemoRoutes(app);
  known.refuseOthers(app);
  return app;
}

function gateOf(profile: Parts['profile'], access: Exclude<Access, 'open'>) {
  if (profile.name === 'error-demo') throw new Error('Cannot start: the error demo has no authentication');
  return admit(access, profile.authenticate);
}

function needless(): never {
  throw new Error('Cannot compile a schema: no route needs it');
}
