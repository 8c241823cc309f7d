import type { Server } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import type { Target } from '../../packages/conformance/src/target.ts';
import type { Authenticate } from '../../src/auth/admit.ts';
import { admitWith } from '../../src/auth/admit.ts';
import { errorDemoRoutes } from '../../src/error-demo.ts';
import type { Answer } from '../../src/http/answer.ts';
import type { Cors } from '../../src/http/cors.ts';
import { faultAnswers } from '../../src/http/fault-answers.ts';
import { openPipeline } from '../../src/http/pipeline.ts';
import type { Route } from '../../src/http/route.ts';
import { eventLogger } from '../../src/telemetry/log.ts';
import { openRecords } from '../../src/telemetry/record.ts';
import { LIMITS, type Limits } from '../../src/wire/limits.ts';
import { type Listener, type ListenerOptions, openListener } from '../../src/wire/listener.ts';

type Clocks = Pick<Limits, 'headersTimeout' | 'requestTimeout'>;

/** The limits of the public port, without settings of its own. */
export const PUBLIC_LIMITS: Limits = { ...LIMITS, keepAliveTimeout: 75_000, maxConnections: 1_000 };

/** Milliseconds. Longer than any test is held up: nobody is called slow unless a test wants it. */
const PATIENT: Clocks = { headersTimeout: 60_000, requestTimeout: 60_000 };

/** An error demo in this process, on a real socket, with limits and routes of the test's own. Owned: `await using`. */
export interface Demo extends AsyncDisposable {
  readonly url: string;
  readonly listener: Listener;
  readonly server: Server;
  /** The log so far, a parsed line each. */
  readonly log: readonly Record<string, unknown>[];
}

export interface DemoOptions extends Partial<Omit<ListenerOptions, 'limits' | 'answers'>> {
  readonly limits?: Partial<Limits>;
  readonly cors?: Cors;
  readonly routes?: readonly Route[];
  /** Who calls, for routes that ask. */
  readonly authenticate?: Authenticate;
  readonly metrics?: Parameters<typeof openRecords>[2];
  readonly traces?: Parameters<typeof openRecords>[3];
  readonly logLevel?: string;
  readonly environment?: 'development' | 'production';
}

export async function startDemo({
  cors,
  routes = [],
  authenticate,
  metrics,
  traces,
  logLevel = 'info',
  environment = 'production',
  limits,
  ...options
}: DemoOptions = {}): Promise<Demo> {
  const log: Record<string, unknown>[] = [];
  const lines = pino({ level: logLevel }, { write: (line: string) => log.push(JSON.parse(line)) });
  const logEvent = eventLogger(lines);
  const listener = openListener({
    name: 'public',
    logEvent,
    answers: faultAnswers(cors),
    ...options,
    limits: { ...PUBLIC_LIMITS, ...PATIENT, ...limits },
  });
  const lineOf = lines.isLevelEnabled('debug') ? logEvent : undefined;
  const receive = openPipeline({
    routes: [...errorDemoRoutes(logEvent), ...routes],
    admit: authenticate && admitWith(authenticate, logEvent),
    logEvent,
    listener,
    cors,
    record: openRecords(environment, lineOf, metrics, traces),
  });
  const address = { host: '127.0.0.1', port: 0, setting: 'none' };
  const { server, url } = await listener.listen(receive, address);
  return {
    url,
    listener,
    server,
    log,
    [Symbol.asyncDispose]: () => listener.drain(0),
  };
}

/** Milliseconds. Short, so that a cut-off does not take the seconds that production grants. */
export const HURRIED = { headersTimeout: 200, requestTimeout: 300, connectionsCheckingInterval: 50 };

/** When Node.js calls a client slow from now on, whatever the limits: a test that is held up is a slow client, too. */
export function setClocks({ server }: Demo, { headersTimeout, requestTimeout }: Clocks = PATIENT): void {
  Object.assign(server, { headersTimeout, requestTimeout });
}

/** Drains, with a deadline that no test gets to, and is there when nobody listens any more. */
export async function beginDrain({ listener, server }: Demo): Promise<{ readonly drained: Promise<void> }> {
  const drained = listener.drain(60_000);
  while (server.listening) await setImmediate();
  return { drained };
}

/** A service in production, as the conformance suite asks it. */
export function targetOf(url: string) {
  return {
    baseUrl: new URL(url),
    environment: 'production',
    fresh: false,
    seen: [],
    created: new Set<string>(),
  } as const satisfies Partial<Target>;
}

/** An open route. */
export function get(path: string, handle: () => Answer | Promise<Answer>): Route {
  return { method: 'GET', path, access: 'open', handle };
}
