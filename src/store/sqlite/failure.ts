import { OutcomeUnknown, StoreBroken, StoreUnavailable } from '../store.ts';
import { isDamage, isMachineFault, messageOf } from './error.ts';
import type { ThreadEnded } from './thread.ts';

/**
 * Why a thread did not do its order, in a form that crosses threads. `unavailable`: the machine is at fault, and
 * nothing was changed. `unknown`: the commit was on its way to the disk, so a crash may still bring the changes
 * back, or take them away. `broken`: the file is gone or damaged, and nothing was changed. `error`: a bug, and
 * nothing was changed.
 */
export interface Failure {
  readonly failure: 'unavailable' | 'unknown' | 'broken' | 'error';
  readonly message: string;
  /** What it says about the file. `gone`: deleted or replaced. `damaged`: corrupt, or the disk does not read it. */
  readonly trouble?: 'gone' | 'damaged';
}

/** What SQLite raised, before anything was on its way to the disk. */
export function failureBy(error: unknown): Failure {
  const message = messageOf(error);
  if (isDamage(error)) return { failure: 'broken', trouble: 'damaged', message };
  return { failure: isMachineFault(error) ? 'unavailable' : 'error', message };
}

/**
 * What became of an order whose thread ended: nothing, where it could not begin; afterwards, nothing or an unknown
 * change.
 */
export function failureByEnd(
  { ready, message, cause }: ThreadEnded,
  begun: 'unavailable' | 'unknown',
): Failure {
  if (!ready && isDamage(cause)) return failureBy(cause);
  return { failure: ready ? begun : 'unavailable', message };
}

/** What the store rejects with. */
export function errorOf({ failure, message }: Failure, cause?: unknown): Error {
  switch (failure) {
    case 'unavailable':
      return new StoreUnavailable(message, { cause });
    case 'unknown':
      return new OutcomeUnknown(message, { cause });
    case 'broken':
      return new StoreBroken(message, { cause });
    case 'error':
      return new Error(message, { cause });
  }
}
