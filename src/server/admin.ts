import type { LogEvent } from '../events.ts';
import { json } from '../http/answer.ts';
import { openRoute, type Route } from '../http/route.ts';
import { followOutage } from '../lib/outage.ts';
import { within } from '../lib/promises.ts';
import { OutcomeUnknown, StoreBroken, StoreNotWritable, StoreUnavailable } from '../shared-list/store.ts';

/** Operators, probes and Prometheus need few connections. */
export const ADMIN_LIMITS = { maxConnections: 100, keepAliveTimeout: 75_000 };

interface AdminParts {
  /** True when requests can be answered, else the reason, for people. Never rejects. */
  readonly ready: () => Promise<true | string>;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  readonly version: Readonly<Record<string, string | undefined>>;
}

/** The routes of the admin listener. They are open to every client that reaches the port, and no cache may keep them. */
export function adminRoutes({ ready, metrics, version }: AdminParts): readonly Route[] {
  return [
    openRoute('/live', () => json({ status: 'live' }, 'no-store')),
    openRoute('/ready', async () => {
      const answer = await ready();
      return answer === true ? json({ status: 'ready' }, 'no-store') : { status: 503, detail: answer };
    }),
    openRoute('/metrics', async () => {
      const { contentType, text } = await metrics();
      const headers = { 'cache-control': 'no-store', 'content-type': contentType };
      return { status: 200, headers, body: text };
    }),
    openRoute('/version', () => json(version, 'no-store')),
  ];
}

/** A condition for answering requests: true, else the reason why it does not hold, for people. */
export type Condition = () => true | string | Promise<true | string>;

/** Milliseconds for one condition: less than the second that a probe usually waits. */
const PATIENCE_MS = 800;

/**
 * Whether every condition holds, else the first reason why not. Never rejects. The log has an outage, not each probe.
 */
export function watchReadiness(conditions: readonly Condition[], logEvent: LogEvent) {
  const isTold = followOutage();
  return async () => {
    let answer: true | string = true;
    for (const condition of conditions) if (answer === true) answer = await condition();
    const reason = answer === true ? undefined : answer;
    if (isTold(reason)) logEvent(reason === undefined ? { event: 'ready' } : { event: 'not-ready', reason });
    return answer;
  };
}

/** Whether the database soon does what `check` asks of it, else the reason why not. */
export function databaseAnswers(check: () => Promise<void>): Condition {
  return () => {
    const answered = check().then(() => true as const, reasonOf);
    return within(PATIENCE_MS, answered, 'The database does not answer in time.');
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof StoreNotWritable) return 'The database takes no writes: it is read-only or a standby.';
  const known =
    error instanceof StoreUnavailable || error instanceof StoreBroken || error instanceof OutcomeUnknown;
  return known
    ? `The database does not answer as it should: ${error.message}.`
    : 'The database does not answer.';
}
