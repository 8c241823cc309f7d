import type { LogEvent } from '../../events.ts';
import { asNotUsable } from '../../lib/errors.ts';
import { discoverKeys } from './discovery.ts';
import { type FetchOptions, fetchDocument } from './document.ts';
import { currentKeys, type KeySet, type Keys, type LoadedKeys, readKeySet } from './keys.ts';
import type { HttpProxy } from './proxy.ts';
import { withoutQuery } from './trusted-address.ts';

/** The place where an issuer publishes its keys, and the proxy on the way. */
export type RemoteSource = { readonly proxy?: HttpProxy | undefined } & (
  | { readonly kind: 'jwks-url'; readonly url: URL }
  /** The issuer as configured: the discovery document must repeat it character by character. */
  | { readonly kind: 'discovery'; readonly issuer: string }
);

export interface RemoteKeysOptions {
  readonly logEvent: LogEvent;
  /** Milliseconds between two attempts for tokens that no key verifies, unless the first brought an unknown `kid`. */
  readonly cooldownMs: number;
  /** Milliseconds between two refreshes in the background. */
  readonly refreshMs: number;
  /** Milliseconds for one attempt, discovery included: the longest that a request waits for keys. */
  readonly timeoutMs?: number;
  /** Milliseconds of a clock that never goes back. */
  readonly clock?: () => number;
}

/** Milliseconds until the second attempt of an outage; every further one waits twice as long. */
const FIRST_RETRY_MS = 1000;

/**
 * The keys of an issuer, refreshed in the background, and when none of them verifies a token. The start does not wait for
 * the issuer's answer; known keys stay in force during an outage.
 */
export function openRemoteKeys(source: RemoteSource, options: RemoteKeysOptions): Keys {
  const {
    logEvent,
    cooldownMs,
    refreshMs,
    timeoutMs = 5000,
    clock = performance.now.bind(performance),
  } = options;
  const description = source.kind === 'discovery' ? `the issuer ${source.issuer}` : withoutQuery(source.url);
  const { update, ...known } = currentKeys(description, logEvent);
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let nextAt = clock();
  let askedAt = Number.NEGATIVE_INFINITY;

  async function load(): Promise<void> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]);
    const loaded = await loadKeys(source, { signal, proxy: source.proxy }).catch(asNotUsable);
    if (closing.signal.aborted) return;
    failures = update(loaded) ? 0 : failures + 1;
    const waitMs =
      failures === 0 ? refreshMs : Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), cooldownMs, refreshMs);
    nextAt = clock() + waitMs;
    timer = setTimeout(attempt, waitMs).unref();
  }

  /** Makes an attempt, unless one is under way. */
  function attempt(): void {
    clearTimeout(timer);
    running ??= load().finally(() => {
      running = undefined;
    });
  }

  attempt();
  return {
    ...known,
    async refresh(keyId) {
      const before = known.current();
      await running;
      if (before === undefined || known.current() !== before) return;
      if (clock() - askedAt >= cooldownMs) {
        askedAt = clock();
        attempt();
      }
      await running;
      const brings = (set: KeySet) => keyId !== undefined && set.some((key) => key.keyId === keyId);
      if (!brings(before) && brings(known.current() ?? before)) askedAt = Number.NEGATIVE_INFINITY;
    },
    retryAfter: () => Math.max(1, Math.ceil((nextAt - clock()) / 1000)),
    describe: () => description,
    async [Symbol.asyncDispose]() {
      closing.abort();
      clearTimeout(timer);
      await running;
    },
  };
}

async function loadKeys(source: RemoteSource, options: FetchOptions): Promise<LoadedKeys> {
  const address = source.kind === 'discovery' ? await discoverKeys(source.issuer, options) : source.url.href;
  return readKeySet(await fetchDocument(address, options));
}
