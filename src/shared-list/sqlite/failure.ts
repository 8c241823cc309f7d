import { OutcomeUnknown, StoreUnavailable } from '../store.ts';
import { isMachineFault, messageOf } from './error.ts';

/**
 * Why a thread did not do what it was told, in a form that crosses threads. `unavailable`: the machine is at
 * fault, and nothing was changed. `unknown`: the commit was on its way to the disk, so a crash may still bring
 * the changes back. `error`: a bug, and nothing was changed.
 */
export interface Failure {
  readonly failure: 'unavailable' | 'unknown' | 'error';
  readonly message: string;
}

/** What SQLite raised, before anything was on its way to the disk. */
export function failureBy(error: unknown): Failure {
  return { failure: isMachineFault(error) ? 'unavailable' : 'error', message: messageOf(error) };
}

/** What the store rejects with. */
export function errorOf({ failure, message }: Failure): Error {
  switch (failure) {
    case 'unavailable':
      return new StoreUnavailable(message);
    case 'unknown':
      return new OutcomeUnknown(message);
    case 'error':
      return new Error(message);
  }
}
