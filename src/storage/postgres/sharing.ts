import { setImmediate as turn } from 'node:timers/promises';
import { OutcomeUnknown, type PoolCounts, StoreUnavailable } from '../../shared-list/store.ts';
import type { When } from './statement-pool.ts';

/** Writes of one statement, at most: where its answer is lost, the outcome of each of them is unknown. */
const MOST = 64;

/** Milliseconds of a quick statement, while connections are free and while others wait for one. */
const QUICK_MS = { free: 50, waiting: 500 };

/** Milliseconds in which writes are sent alone after a statement that was refused: the next one may be refused as well. */
const ALONE_MS = 1_000;

/** The ways to send writes of one kind. */
interface Ways<Write, Outcome> {
  /** Milliseconds in which a write is sent, its wait for a connection and a statement that was undone included. */
  readonly withinMs: number;
  counts(): PoolCounts;
  mayShare(write: Write): boolean;
  /** Two writes of one subject are never in one statement. */
  subjectOf(write: Write): unknown;
  /** Sends one until this time of `performance.now()`. */
  alone(write: Write, sentBy: number): Promise<Outcome>;
  /** Sends several, as one. A write without an outcome was not made. */
  together(writes: readonly Write[], ...when: When): Promise<readonly (Outcome | undefined)[]>;
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
  /** Writes of the next statement, at most: twice as many as in the last, or half, as triggers of others may be slow. */
  let most = 16;

  async function share(writes: ReadonlyMap<unknown, Write>): Promise<readonly (Outcome | undefined)[]> {
    await turn();
    gathered = new Map();
    crowded = writes.size > 1 || ways.counts().used > 0;
    if (writes.size === 1) return [];
    const sentBy = performance.now() + ways.withinMs;
    const half = Math.max(2, writes.size >> 1);
    let sentAt = 0;
    const onSent = () => (sentAt = performance.now());
    try {
      const outcomes = await ways.together([...writes.values()], sentBy, onSent);
      const isQuick = performance.now() - sentAt < QUICK_MS[ways.counts().waiting > 0 ? 'waiting' : 'free'];
      most = isQuick ? Math.min(MOST, Math.max(most, 2 * writes.size)) : half;
      return outcomes;
    } catch (error) {
      if (error instanceof OutcomeUnknown || sentAt === 0) throw error;
      // The server has undone it.
      aloneUntil = performance.now() + ALONE_MS;
      most = half;
      if (error instanceof StoreUnavailable && performance.now() > sentBy) throw error;
      return [];
    }
  }

  return async (write) => {
    const now = performance.now();
    const alone = () => ways.alone(write, now + ways.withinMs);
    const subject = ways.subjectOf(write);
    crowded ||= ways.counts().used > 0;
    if (!crowded || now < aloneUntil || gathered.has(subject) || !ways.mayShare(write)) return alone();
    if (gathered.size >= most) gathered = new Map();
    if (gathered.size === 0) shared = share(gathered);
    const place = gathered.size;
    gathered.set(subject, write);
    const outcomes = await shared;
    return outcomes[place] ?? alone();
  };
}
