import { type Authenticate, authenticateWith } from './authenticate.ts';
import type { KeysParts } from './keys/kept.ts';
import { openKeys } from './keys/open.ts';
import type { AuthSettings } from './settings.ts';

/** Knows callers by their tokens for as long as it is open. */
export interface Authenticator extends AsyncDisposable {
  readonly authenticate: Authenticate;
  /** True when a token could be verified now, else why not. */
  ready(): true | string;
  /** The key source, for the start lines; never secret. */
  describe(): string;
}

/**
 * Opens the key source and answers who is calling. Starts although an issuer is down: tokens are `unavailable`
 * until its keys are there.
 */
export async function openAuthenticator(settings: AuthSettings, parts: KeysParts): Promise<Authenticator> {
  const keys = await openKeys(settings, parts);
  return {
    authenticate: authenticateWith({ ...settings, keys, now: Date.now }),
    ready: () => keys.current() !== undefined || `no keys yet from ${keys.describe()}`,
    describe: () => keys.describe(),
    [Symbol.asyncDispose]: () => keys[Symbol.asyncDispose](),
  };
}
