import { OutcomeUnknown, StoreUnavailable } from '../../shared-list/store.ts';
import { hasCode, isLockTimeout, OF_CONNECTION, RETRIABLE } from './error.ts';

/** Writes of one statement, at most: where its answer is lost, the outcome of each of them is unknown. */
const MOST = 64;

/** Milliseconds in which writes are sent alone after a statement that was refused: the next one may be refused as well. */
const ALONE_MS = 1_000;

/** The ways to send writes of one kind. */
interface Ways<Write, Outcome> {
  /** Sends one, which ends before this time of `performance.now()`. */
  alone(write: Write, until: number): Promise<Outcome>;
  /** Sends several. A write without an outcome was not made. */
  together(writes: readonly Write[]): Promise<readonly (Outcome | undefined)[]>;
  mayShare(write: Write): boolean;
  /** Two writes of one subject are never in one statement. */
  subjectOf(write: Write): unknown;
}

interface Waiting<Write, Outcome> {
  readonly write: Write;
  resolve(outcome: Outcome | Promise<Outcome>): void;
  reject(error: unknown): void;
}

/**
 * Sends writes: those of one turn of the event loop in one statement. A write that comes alone, that may not share or
 * that the statement has not made has one of its own.
 *
 * @param withinMs The time for a write, its wait for a connection and a statement that was undone included.
 */
export function sharing<Write, Outcome>(
  ways: Ways<Write, Outcome>,
  withinMs: number,
): (write: Write) => Promise<Outcome> {
  let gathered = new Map<unknown, Waiting<Write, Outcome>>();
  let aloneUntil = 0;
  let underWay = 0;
  /** Whether writes come together: as long as they do not, none waits for the end of its turn. */
  let crowded = false;

  async function counted<Answer>(answer: Promise<Answer>): Promise<Answer> {
    underWay += 1;
    try {
      return await answer;
    } finally {
      underWay -= 1;
    }
  }

  async function send(batch: readonly Waiting<Write, Outcome>[]): Promise<void> {
    const until = performance.now() + withinMs;
    let outcomes: readonly (Outcome | undefined)[] = [];
    try {
      if (batch.length > 1) outcomes = await counted(ways.together(batch.map(({ write }) => write)));
    } catch (error) {
      if (!isUndone(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      aloneUntil = performance.now() + ALONE_MS;
    }
    for (const [place, { write, resolve }] of batch.entries()) {
      resolve(outcomes[place] ?? counted(ways.alone(write, until)));
    }
  }

  function sendGathered(): void {
    const all = [...gathered.values()];
    gathered = new Map();
    crowded = all.length > 1 || underWay > 0;
    for (let from = 0; from < all.length; from += MOST) void send(all.slice(from, from + MOST));
  }

  return (write) => {
    const now = performance.now();
    const subject = ways.subjectOf(write);
    crowded ||= underWay > 0;
    if (!crowded || now < aloneUntil || gathered.has(subject) || !ways.mayShare(write))
      return counted(ways.alone(write, now + withinMs));
    if (gathered.size === 0) setImmediate(sendGathered);
    return new Promise((resolve, reject) => gathered.set(subject, { write, resolve, reject }));
  };
}

/** The server has undone a statement at once, for a reason that concerns the connection or one of several writes. */
const UNDONE = [...RETRIABLE, ...OF_CONNECTION];

/** Whether it is certain that a statement changed nothing, while there is time for others. */
function isUndone(error: unknown): boolean {
  if (error instanceof OutcomeUnknown) return false;
  return !(error instanceof StoreUnavailable) || isLockTimeout(error) || hasCode(error.cause, UNDONE);
}
