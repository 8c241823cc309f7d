import { setImmediate as turn } from 'node:timers/promises';
import { OutcomeUnknown, StoreUnavailable } from '../../shared-list/store.ts';
import { hasCode, isLockTimeout, OF_CONNECTION, RETRIABLE } from './error.ts';

/** Writes of one statement, at most: where its answer is lost, the outcome of each of them is unknown. */
const MOST = 64;

/** Milliseconds in which writes are sent alone after a statement that was refused: the next one may be refused as well. */
const ALONE_MS = 1_000;

/** The ways to send writes of one kind. */
interface Ways<Write, Outcome> {
  /** Milliseconds for a write, its wait for a connection and a statement that was undone included. */
  readonly withinMs: number;
  /** Whether statements are under way. */
  isBusy(): boolean;
  mayShare(write: Write): boolean;
  /** Two writes of one subject are never in one statement. */
  subjectOf(write: Write): unknown;
  /** Sends one, which ends before this time of `performance.now()`. */
  alone(write: Write, until: number): Promise<Outcome>;
  /** Sends several. A write without an outcome was not made. */
  together(writes: readonly Write[]): Promise<readonly (Outcome | undefined)[]>;
}

/**
 * Sends writes: those of one turn of the event loop in one statement. A write that comes alone, that may not share or
 * that the statement has not made has one of its own.
 */
export function sharing<Write, Outcome>(ways: Ways<Write, Outcome>): (write: Write) => Promise<Outcome> {
  /** Those of this turn, by subject, and what becomes of them. */
  let gathered = new Map<unknown, Write>();
  let shared: Promise<readonly (Outcome | undefined)[]>;
  /** Whether writes come together: as long as they do not, none waits for the end of its turn. */
  let crowded = false;
  let aloneUntil = 0;

  async function share(writes: ReadonlyMap<unknown, Write>): Promise<readonly (Outcome | undefined)[]> {
    await turn();
    gathered = new Map();
    crowded = writes.size > 1 || ways.isBusy();
    if (writes.size === 1) return [];
    try {
      return await ways.together([...writes.values()]);
    } catch (error) {
      if (!isUndone(error)) throw error;
      aloneUntil = performance.now() + ALONE_MS;
      return [];
    }
  }

  return async (write) => {
    const now = performance.now();
    const alone = () => ways.alone(write, now + ways.withinMs);
    const subject = ways.subjectOf(write);
    crowded ||= ways.isBusy();
    if (!crowded || now < aloneUntil || gathered.has(subject) || !ways.mayShare(write)) return alone();
    if (gathered.size === MOST) gathered = new Map();
    if (gathered.size === 0) shared = share(gathered);
    const place = gathered.size;
    gathered.set(subject, write);
    const outcomes = await shared;
    return outcomes[place] ?? alone();
  };
}

/** Whether it is certain that a statement changed nothing, while there is time for others. */
function isUndone(error: unknown): boolean {
  if (error instanceof OutcomeUnknown) return false;
  if (!(error instanceof StoreUnavailable) || isLockTimeout(error)) return true;
  return hasCode(error.cause, [...RETRIABLE, ...OF_CONNECTION]);
}
