import type { Identity } from './identity.ts';

/** What came of looking at a request's `Authorization` header. */
export type Authentication =
  | { readonly outcome: 'identified'; readonly identity: Identity }
  /**
   * 401: `challenge` is the value of `WWW-Authenticate`, RFC 6750 §3. `code` and `keyId` are for the log: the latter is
   * the `kid` of the token, so anybody's text.
   */
  | {
      readonly outcome: 'refused';
      readonly code: string;
      readonly keyId?: string | undefined;
      readonly challenge: string;
    }
  /** 503: no key could be had from the issuer yet. `retryAfter` in seconds, at least 1. */
  | { readonly outcome: 'unavailable'; readonly retryAfter: number };
