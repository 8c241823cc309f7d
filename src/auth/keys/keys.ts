import type { Tell } from '../../events.ts';
import type { Failed } from '../../files.ts';
import { describeSkipped, type KeySet, type KeySetResult, sameKeys } from './key-set.ts';

/** Where keys come from while the service runs: a secret, a file that may change, an issuer that rotates. */
export interface Keys extends AsyncDisposable {
  /** The keys to trust now; undefined while none could be had. A new array means a new set, and only then. */
  current(): KeySet | undefined;
  /**
   * Waits for the set that is on its way. With a set in force, asks the source once more: a token names a key that is
   * not in it. Never rejects.
   */
  refresh(): Promise<void>;
  /** Seconds, at least 1, until another attempt to get the first set. */
  retryAfter(): number;
  /** For the start line and for `token verify`; never secret. */
  describe(): string;
}

/** Keys that stay what they are until the process ends. */
export function fixedKeys(keys: KeySet, description: string): Keys {
  return {
    current: () => keys,
    refresh: async () => {},
    retryAfter: () => 1,
    describe: () => description,
    [Symbol.asyncDispose]: async () => {},
  };
}

/** What came of one attempt to get keys. */
export type LoadedKeys = KeySetResult | Failed;

export interface KeysOptions {
  readonly tell: Tell;
  /** Called after each attempt to get the keys of an issuer or of a file. */
  readonly keysTaken?: ((outcome: LoadedKeys['outcome']) => void) | undefined;
}

/**
 * The set in force, through changes and outages of its source. Logs what an operator must know, and once: the
 * first failure of an outage, its end, a key that is skipped when it first appears, a set that has changed.
 */
export function currentKeys(source: string, { tell, keysTaken }: KeysOptions) {
  let keys: KeySet | undefined;
  let failing = false;
  let reported = new Set<string>();

  function report(loaded: KeySetResult): void {
    const lines = new Set(
      loaded.skipped.filter(({ outcome }) => outcome !== 'other-use').map(describeSkipped),
    );
    for (const line of lines) {
      if (!reported.has(line)) tell({ event: 'key-skipped', source }, { message: `key skipped: ${line}` });
    }
    reported = lines;
  }

  function fail(reason: string): false {
    const consequence = keys === undefined ? 'no token can be verified' : 'known keys stay in force';
    const first = { message: `no keys from ${source}, ${consequence}` };
    tell({ event: 'keys-unavailable', source, reason }, failing ? { level: 'debug' } : first);
    failing = true;
    return false;
  }

  return {
    current: (): KeySet | undefined => keys,
    /** Puts in force what an attempt brought; a failure leaves the known keys. True when it brought keys. */
    update(loaded: LoadedKeys): boolean {
      keysTaken?.(loaded.outcome);
      if (loaded.outcome !== 'failed') report(loaded);
      if (loaded.outcome !== 'read') return fail(loaded.reason);
      if (failing) tell({ event: 'keys-available', source });
      failing = false;
      if (keys !== undefined && sameKeys(keys, loaded.keys)) return true;
      const said = keys === undefined ? ({ level: 'debug' } as const) : {};
      keys = loaded.keys;
      tell({ event: 'keys-loaded', source, kids: keys.map(({ keyId }) => keyId ?? null) }, said);
      return true;
    },
  };
}

/** A key file that cannot be used, or no longer. The message is one line for people, without any of its content. */
export class KeysNotOpened extends Error {
  override readonly name = 'KeysNotOpened';
}
