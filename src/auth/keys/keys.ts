import type { KeySet } from './key-set.ts';

/** Where keys come from while the service runs: a secret, a file that may change, an issuer that rotates. */
export interface Keys extends AsyncDisposable {
  /** The keys to trust now; undefined while none could be had. A new array means a new set, and only then. */
  current(): KeySet | undefined;
  /**
   * Waits for the set that is on its way. With a set in force, asks the source once more: a token names a key that is
   * not in it. Never rejects.
   */
  lookAgain(): Promise<void>;
  /** Seconds, at least 1, until another attempt to get the first set. */
  retryAfter(): number;
  /** For the start line and for `token verify`; never secret. */
  describe(): string;
}

/** Keys that stay what they are until the process ends. */
export function fixedKeys(keys: KeySet, description: string): Keys {
  return {
    current: () => keys,
    lookAgain: async () => {},
    retryAfter: () => 1,
    describe: () => description,
    [Symbol.asyncDispose]: async () => {},
  };
}
