import type { Logger } from 'pino';
import { StoreNotWritable } from '../shared-list/store.ts';

/** One thing that must be so before requests can be answered: true, else why not, for people. */
export type Condition = () => true | string | Promise<true | string>;

/** Milliseconds that a condition gets. Below the usual probe's second. */
const PATIENCE = 800;

/**
 * Whether every condition holds, else the first reason why not. Never rejects. The log has a line when the
 * answer changes, not one per probe.
 */
export function watchReadiness(conditions: readonly Condition[], log: Logger): () => Promise<true | string> {
  let known: true | string | undefined;
  return async () => {
    const answer = await firstReason(conditions);
    if (answer !== known && known !== undefined) {
      if (answer === true) log.info({ event: 'ready' }, 'ready again');
      else log.warn({ event: 'not-ready', reason: answer }, `not ready: ${answer}`);
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

/** The database answers a query soon, and takes writes. What it says otherwise is for the log of the requests. */
export function databaseAnswers(check: () => Promise<void>): Condition {
  return async () => {
    const { promise: tooLate, resolve } = Promise.withResolvers<string>();
    const timer = setTimeout(resolve, PATIENCE, 'The database does not answer in time.');
    const answered = check().then(
      () => true as const,
      (error: unknown) =>
        error instanceof StoreNotWritable
          ? 'The database takes no writes: it is read-only or a standby.'
          : 'The database does not answer.',
    );
    return Promise.race([answered, tooLate]).finally(() => clearTimeout(timer));
  };
}
