import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { and } from './and.ts';
import { type Admit, admitWith } from './auth/admit.ts';
import type { Authenticate } from './auth/authenticate.ts';
import type { Environment } from './environment.ts';
import { errorDemoRoutes } from './error-demo/routes.ts';
import type { Answer } from './http/message/answer.ts';
import type { BodyEnd } from './http/message/body.ts';
import { Call } from './http/message/call.ts';
import { openCors } from './http/message/cors.ts';
import { matchRoutes, type Route } from './http/message/routes.ts';
import { write } from './http/message/write.ts';
import type { Listeners } from './http/transport/listeners.ts';
import { refuse } from './http/transport/refuse.ts';
import type { Receive } from './http/transport/server.ts';
import { type Audit, openAudit } from './observe/audit.ts';
import type { Observer, WatchRequest } from './observe/observer.ts';
import { requestLines } from './observe/request-line.ts';
import { crash, dress, type Fail } from './problem/dress.ts';
import { sharedListRoutes } from './shared-list/routes.ts';
import type { TodoStore } from './shared-list/store.ts';
import { storeFault } from './shared-list/store-fault.ts';
import { openWalk } from './walk.ts';

/** What an application needs from outside, by profile. */
export interface Parts {
  readonly environment: Environment;
  readonly log: Logger;
  /** Whether the log says who changed what. */
  readonly audit: boolean;
  readonly profile:
    | { readonly name: 'shared-list'; readonly store: TodoStore; readonly authenticate: Authenticate }
    | { readonly name: 'error-demo' };
  /** Whose requests these are. */
  readonly listeners: Pick<Listeners, 'draining'>;
  /** Observers of requests; none by default. */
  readonly observers?: readonly Observer[];
  /** Origins whose browser applications are let in; none by default. */
  readonly corsOrigins?: readonly string[];
  /** Beside those of the profile; none by default. */
  readonly routes?: readonly Route[];
}

/**
 * Composes the application: what is done with a request that has passed the strict look. It is matched, walks
 * (`walk.ts`), and what comes out of that, thrown or not, is dressed, marked and written: in one place each.
 */
export async function composeApp(parts: Parts): Promise<Receive> {
  const { environment, log, profile, listeners, observers = [], corsOrigins = [] } = parts;
  const { routes: own, admit, fail } = open(profile, log, openAudit(log, parts.audit));
  const routes = [...own, ...(parts.routes ?? [])];
  checkAccess(profile, routes);
  if (environment === 'development') {
    const { documentRoutes } = await import('./openapi/serve.ts');
    routes.push(...documentRoutes(profile.name, own, log));
  }
  const match = matchRoutes(routes);
  const cors = corsOrigins.length === 0 ? undefined : openCors(corsOrigins);
  const walk = openWalk(admit, cors);

  /** Nothing is answered before the body has come to its end: `rest` names the two exceptions. */
  function respond(call: Call): void {
    const finished = and(attempt(call), (answer) =>
      and(call.body?.rest() ?? 'complete', (end) => finish(call, answer, end)),
    );
    if (finished instanceof Promise)
      finished.catch((err: unknown) => abandon(call.request, err, call.traceId));
  }

  function attempt(call: Call): Answer | Promise<Answer> {
    try {
      const answer = walk(call);
      return answer instanceof Promise ? answer.catch((error: unknown) => fail(error, call)) : answer;
    } catch (error) {
      return fail(error, call);
    }
  }

  /** Only the last of pipelined answers may close: what is parsed in this turn with this request counts too. */
  function finish(call: Call, answer: Answer, end: BodyEnd | 'held-back'): void {
    if (listeners.draining) setImmediate(() => send(call, answer, end));
    else send(call, answer, end);
  }

  function send(call: Call, answer: Answer, end: BodyEnd | 'held-back'): void {
    const { request, response, connection } = call;
    // Refused meanwhile: what followed of too large a body was not HTTP.
    if (response.headersSent) return;
    try {
      if (end === 431) {
        refuse(request, response, connection, { status: end });
        return;
      }
      const dressed = dress(answer, call);
      const marked = cors === undefined ? dressed : cors.mark(dressed, call);
      const isLast = listeners.draining && connection.latest === response;
      write(call, marked, isLast || end !== 'complete');
    } catch (err) {
      abandon(request, err, call.traceId);
    }
  }

  /** The last catch: nothing is left to say to the client. */
  function abandon({ socket }: IncomingMessage, err: unknown, traceId?: string): void {
    log.error({ event: 'answer-not-written', traceId, err }, 'an answer could not be written');
    socket.destroy();
  }

  const watchers = observers.map(({ watchRequest }) => watchRequest);
  const lines = requestLines(log, environment);
  const observed = observe(lines === undefined ? watchers : [...watchers, lines], respond);
  return (request, response, connection) => {
    const { method = '', url = '' } = request;
    try {
      observed(new Call(request, response, connection, match(method, url)));
    } catch (err) {
      abandon(request, err);
    }
  };
}

function open(
  profile: Parts['profile'],
  log: Logger,
  audit: Audit,
): { routes: readonly Route[]; admit: Admit; fail: Fail } {
  if (profile.name === 'error-demo') {
    return { routes: errorDemoRoutes(audit), admit: () => undefined, fail: crash(log) };
  }
  return {
    routes: sharedListRoutes(profile.store, audit),
    admit: admitWith(profile.authenticate, audit),
    fail: storeFault(log, audit, crash(log)),
  };
}

function checkAccess({ name }: Parts['profile'], routes: readonly Route[]): void {
  if (name === 'error-demo' && routes.some(({ access }) => access !== 'open'))
    throw new Error('Cannot start: the error demo has no authentication');
}

/** The first of the watchers is the outermost. */
function observe(watchers: readonly WatchRequest[], respond: (call: Call) => void): (call: Call) => void {
  return watchers.reduceRight<(call: Call) => void>(
    (go, watch) => (call) => watch(call, () => go(call)),
    respond,
  );
}
