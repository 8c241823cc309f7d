import type { Logger } from 'pino';
import type { Failed } from './failed.ts';
import { describeSkipped, type KeySet, type KeySetResult, sameKeys } from './key-set.ts';

/** What came of one attempt to get keys. */
export type LoadedKeys = KeySetResult | Failed;

export interface KeysParts {
  readonly log: Logger;
  /** Called after each attempt to get the keys of an issuer or of a file. */
  readonly keysTaken?: ((outcome: LoadedKeys['outcome']) => void) | undefined;
}

/**
 * Keeps the set in force, through changes and outages of its source. Logs what an operator must know, and once: the
 * first failure of an outage, its end, a key that is skipped when it first appears, a set that has changed.
 */
export function keepKeys(source: string, { log, keysTaken }: KeysParts) {
  let keys: KeySet | undefined;
  let failing = false;
  let reported = new Set<string>();

  function report(loaded: KeySetResult): void {
    const lines = new Set(
      loaded.skipped.filter(({ outcome }) => outcome !== 'other-use').map(describeSkipped),
    );
    for (const line of lines) {
      if (!reported.has(line)) log.warn({ event: 'key-skipped', source }, `key skipped: ${line}`);
    }
    reported = lines;
  }

  function fail(reason: string): false {
    const consequence = keys === undefined ? 'no token can be verified' : 'known keys stay in force';
    const line = { event: 'keys-unavailable', source, reason };
    if (failing) log.debug(line, 'still no keys');
    else log.warn(line, `no keys from ${source}, ${consequence}`);
    failing = true;
    return false;
  }

  return {
    current: (): KeySet | undefined => keys,
    /** Takes what an attempt brought. A failure leaves the known keys in force. True when it brought keys. */
    take(loaded: LoadedKeys): boolean {
      keysTaken?.(loaded.outcome);
      if (loaded.outcome !== 'failed') report(loaded);
      if (loaded.outcome !== 'read') return fail(loaded.reason);
      if (failing) log.info({ event: 'keys-available', source }, `keys from ${source} again`);
      failing = false;
      if (keys !== undefined && sameKeys(keys, loaded.keys)) return true;
      const level = keys === undefined ? 'debug' : 'info';
      keys = loaded.keys;
      log[level](
        { event: 'keys-loaded', source, kids: keys.map(({ keyId }) => keyId ?? null) },
        'keys loaded',
      );
      return true;
    },
  };
}
