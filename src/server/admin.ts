import type { Tell } from '../events.ts';
import { type Answer, json } from '../http/answer.ts';
import type { Route } from '../http/route.ts';
import { within } from '../lib/promises.ts';
import { OutcomeUnknown, StoreBroken, StoreNotWritable, StoreUnavailable } from '../todos/store.ts';

/** Operators, probes and Prometheus need few connections. */
export const ADMIN_CONNECTIONS = 100;

/** What operators can ask for. */
interface AdminParts {
  /** True when requests can be answered, else why not, for people. Never rejects. */
  readonly ready: () => Promise<true | string>;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
  /** What is running. */
  readonly version: Readonly<Record<string, string | undefined>>;
}

/** The routes of the admin listener. They are open: whoever reaches the port may ask. */
export function adminRoutes({ ready, metrics, version }: AdminParts): readonly Route[] {
  return [
    page('/live', () => json({ status: 'live' }, 'no-store')),
    page('/ready', async () => {
      const answer = await ready();
      return answer === true ? json({ status: 'ready' }, 'no-store') : { status: 503, detail: answer };
    }),
    page('/metrics', async () => {
      const { contentType, text } = await metrics();
      return { status: 200, headers: { 'content-type': contentType }, body: text };
    }),
    page('/version', () => json(version, 'no-store')),
  ];
}

/** What was so a moment ago may be kept by nobody. */
function page(path: string, make: () => Answer | Promise<Answer>): Route {
  const handle = async (): Promise<Answer> => {
    const answer = await make();
    return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } };
  };
  return { method: 'GET', path, access: 'open', handle };
}

/** One thing that must be so before requests can be answered: true, else why not, for people. */
export type Condition = () => true | string | Promise<true | string>;

/** Time for one condition: less than the second that a probe usually waits. */
const PATIENCE_MS = 800;

/**
 * Whether every condition holds, else the first reason why not. Never rejects. The log has a line when
 * readiness turns, not one per probe; a first answer that is a reason is a turn.
 */
export function watchReadiness(conditions: readonly Condition[], tell: Tell): () => Promise<true | string> {
  let known: true | string = true;
  return async () => {
    const answer = await firstReason(conditions);
    if ((answer === true) !== (known === true)) {
      if (answer === true) tell({ event: 'ready' });
      else tell({ event: 'not-ready', reason: answer });
    }
    known = answer;
    return answer;
  };
}

async function firstReason(conditions: readonly Condition[]): Promise<true | string> {
  for (const condition of conditions) {
    const answer = await condition();
    if (answer !== true) return answer;
  }
  return true;
}

/** The database does soon what `check` asks of it, else the reason why not. */
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
