import type { Authentication } from './authentication.ts';
import type { TokenTimes } from './registered-claims.ts';

/** What is worth remembering about a verified token: who it is, and until when. */
export interface Remembered {
  readonly authentication: Extract<Authentication, { outcome: 'identified' }>;
  readonly times: TokenTimes;
}

export interface TokenMemory {
  get(authorization: string): Remembered | undefined;
  set(authorization: string, remembered: Remembered): void;
  clear(): void;
}

export interface TokenMemoryLimits {
  readonly entries: number;
  /** Bytes of the remembered tokens; what is read from them is never longer than they are. */
  readonly bytes: number;
}

/**
 * Two generations: when the young one has half of what is allowed, the old one is forgotten and the young one
 * becomes old. What is in use moves on to the young one, so that a hit costs a look into a map or two and
 * nothing has to be put in order.
 */
export function rememberTokens(limits: TokenMemoryLimits): TokenMemory {
  let young = new Map<string, Remembered>();
  let old = new Map<string, Remembered>();
  let youngBytes = 0;

  function set(authorization: string, remembered: Remembered): void {
    const length = authorization.length;
    if (length > limits.bytes / 2) return;
    if (young.size + 1 > limits.entries / 2 || youngBytes + length > limits.bytes / 2) {
      old = young;
      young = new Map();
      youngBytes = 0;
    }
    young.set(authorization, remembered);
    youngBytes += length;
  }

  return {
    get(authorization) {
      const fresh = young.get(authorization);
      if (fresh !== undefined) return fresh;
      const remembered = old.get(authorization);
      if (remembered !== undefined) set(authorization, remembered);
      return remembered;
    },
    set,
    clear() {
      young = new Map();
      old = new Map();
      youngBytes = 0;
    },
  };
}
