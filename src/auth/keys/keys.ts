import type { LogEvent } from '../../events.ts';
import { NotUsable } from '../../lib/errors.ts';
import { followOutage } from '../../lib/outage.ts';
import { isJsonObject } from '../../lib/parse-json.ts';
import { quoteShort } from '../../lib/quote.ts';
import type { Algorithm } from './algorithms.ts';
import { readJwk, type SkippedKey, type VerificationKey } from './verification-key.ts';

/** The source of keys while the service runs: a secret, a file that may change, an issuer that rotates. */
export interface Keys extends AsyncDisposable {
  /** The keys to trust now; undefined before the first set. A new array means a new set, and only then. */
  current(): KeySet | undefined;
  /**
   * Waits for the set that is on its way. With a set in force, asks the source once more, for a token that no key of it
   * verifies. Never rejects.
   *
   * @param keyId of that token: whether the source knows it now decides when it may be asked again.
   */
  refresh(keyId?: string): Promise<void>;
  /** Seconds, at least 1, until another attempt to get the first set. */
  retryAfter(): number;
  /** The place of the keys, for the start line and for `token verify`; never secret. */
  describe(): string;
  /** The keys of the source that cannot be used, as it was last read. */
  skipped(): readonly SkippedKey[];
  /** For metrics; undefined where the source is read once. */
  figures?(): KeyFigures;
}

interface KeyFigures {
  readonly attempts: Readonly<Record<'read' | 'unusable' | 'failed', number>>;
  /** The reason why the last attempt brought no keys, for people; undefined when it brought some, or there was none. */
  readonly lastFailure?: string | undefined;
}

/** Keys that stay the same until the process ends. */
export function fixedKeys(keys: KeySet, description: string): Keys {
  return {
    current: () => keys,
    refresh: async () => {},
    retryAfter: () => 1,
    describe: () => description,
    skipped: () => [],
    [Symbol.asyncDispose]: async () => {},
  };
}

/**
 * The set in force, through changes and outages of its source. Logs once each: an outage, the keys that are skipped when they
 * change, a set that has changed.
 */
export function currentKeys(source: string, logEvent: LogEvent) {
  let keys: KeySet | undefined;
  let failure: string | undefined;
  const isTold = followOutage();
  let skipped: readonly SkippedKey[] = [];
  let reported = '';
  const attempts = { read: 0, unusable: 0, failed: 0 };

  function fail(reason: string): false {
    const consequence = keys === undefined ? 'no token can be verified' : 'known keys stay in force';
    const message = `no keys from ${source}, ${consequence}`;
    logEvent(
      { event: 'keys-unavailable', source, reason },
      isTold(reason) ? { message } : { level: 'debug' },
    );
    failure = reason;
    return false;
  }

  return {
    current: (): KeySet | undefined => keys,
    skipped: () => skipped,
    figures: (): KeyFigures => ({ attempts, lastFailure: failure }),
    /** Puts the keys of an attempt in force; a failure leaves the known keys. True when the attempt brought keys. */
    update(loaded: LoadedKeys | NotUsable): boolean {
      if (loaded instanceof NotUsable) {
        attempts.failed += 1;
        return fail(loaded.message);
      }
      attempts[loaded.fault === undefined ? 'read' : 'unusable'] += 1;
      skipped = loaded.skipped;
      if (loaded.fault !== undefined) return fail(loaded.fault);
      const unfit = describeSkipped(skipped.filter(({ kind }) => kind !== 'other-use'));
      if (unfit !== '' && unfit !== reported)
        logEvent({ event: 'key-skipped', source }, { message: `key skipped: ${unfit}` });
      reported = unfit;
      if (isTold(undefined)) logEvent({ event: 'keys-available', source });
      failure = undefined;
      if (keys !== undefined && sameKeys(keys, loaded.keys)) return true;
      const said = keys === undefined ? ({ level: 'debug' } as const) : {};
      keys = loaded.keys;
      const kids = keys.slice(0, MAX_SHOWN_KEYS).map(({ keyId }) => shownKeyId(keyId) ?? null);
      logEvent({ event: 'keys-loaded', source, kids, keys: keys.length }, said);
      return true;
    },
  };
}

/** Keys in canonical order. The same array as long as nothing about the set has changed. */
export type KeySet = readonly VerificationKey[];

export interface LoadedKeys {
  readonly keys: KeySet;
  readonly skipped: readonly SkippedKey[];
  /** The reason why it has no usable key; undefined when it has one. */
  readonly fault?: string;
}

/** A set is read up to this length. */
export const MAX_SET_KIB = 512;

/** Keys of a set, at most, without those for encryption. A longer list is a mistake or an attack. */
const MAX_KEYS = 50;

/** Signatures tried for one token (contract A7). */
export const MAX_TRIES = 5;

/** A JWK Set (RFC 7517 §5) or a single JWK. Keys that cannot be used are skipped; a set without any is a fault. */
export function readKeySet(document: unknown): LoadedKeys {
  const list = listKeys(document);
  if (list === undefined) return noKeys('it must be a JWK or a JWK Set with "keys"');
  const { length } = list.filter((jwk) => !(isJsonObject(jwk) && jwk.use === 'enc'));
  if (length > MAX_KEYS) {
    const beside = length === list.length ? '' : ` beside ${list.length - length} for encryption`;
    return noKeys(`it must have at most ${MAX_KEYS} keys, received ${length}${beside}`);
  }
  const read = list.map(readJwk);
  const keys = inOrder(read.filter((key) => 'algorithms' in key));
  const skipped = read.filter((key) => 'reason' in key);
  if (keys.length > 0) return { keys, skipped };
  const but = skipped.length === 0 ? '' : `: ${describeSkipped(skipped)}`;
  return noKeys(`it must have a key that verifies signatures${but}`, skipped);
}

/** Keys in canonical order: that in which an issuer lists its keys means nothing and must not make two sets of one. */
export function inOrder(keys: readonly VerificationKey[]): KeySet {
  const byId = new Map(keys.map((key) => [key.id, key]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

export function sameKeys(a: KeySet, b: KeySet): boolean {
  return a.length === b.length && a.every((key, at) => key.id === b[at]?.id);
}

/** The keys that a token may be signed with, those of its `kid` first (contract A6; A7). */
export function candidateKeys(keys: KeySet, algorithm: Algorithm, keyId: string | undefined): KeySet {
  return selectedKeys(keys, keyId)
    .filter((key) => key.algorithms.has(algorithm))
    .slice(0, MAX_TRIES);
}

/** The keys of that `kid`, then those without one; all of them for a token without `kid`. */
export function selectedKeys(keys: KeySet, keyId: string | undefined): KeySet {
  if (keyId === undefined) return keys;
  return [...keys.filter((key) => key.keyId === keyId), ...keys.filter((key) => key.keyId === undefined)];
}

/** Keys that a line names. */
const MAX_SHOWN_KEYS = 8;

/** Characters. A `kid` may be any client's text of any length. */
const MAX_SHOWN_KEY_ID = 100;

export function shownKeyId(keyId: string | undefined): string | undefined {
  return keyId?.slice(0, MAX_SHOWN_KEY_ID);
}

/** What was skipped, and why, for people: `the key "a": it is a private key`. Keys of another use come last. */
export function describeSkipped(skipped: readonly SkippedKey[]): string {
  const isOther = ({ kind }: SkippedKey) => Number(kind === 'other-use');
  const nameOf = (id?: string) => (id === undefined ? 'a key without "kid"' : `the key ${quoteShort(id)}`);
  const inOrder = skipped.toSorted((a, b) => isOther(a) - isOther(b));
  return nameSome(inOrder.map(({ keyId, reason }) => `${nameOf(keyId)}: ${reason}`));
}

/** The first eight of some lines, and the number of the others. */
export function nameSome(lines: readonly string[]): string {
  const more = lines.length - MAX_SHOWN_KEYS;
  return [...lines.slice(0, MAX_SHOWN_KEYS), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function listKeys(document: unknown): readonly unknown[] | undefined {
  if (!isJsonObject(document)) return undefined;
  if (Object.hasOwn(document, 'keys')) return Array.isArray(document.keys) ? document.keys : undefined;
  return Object.hasOwn(document, 'kty') ? [document] : undefined;
}

function noKeys(fault: string, skipped: readonly SkippedKey[] = []): LoadedKeys {
  return { keys: [], skipped, fault };
}
