import type { Target } from './target.ts';

let held: Target | undefined;

/** Chooses what `suite.ts` holds to the specification. */
export function holdTarget(target: Target): void {
  held = target;
}

/** @throws {Error} before one was chosen. */
export function heldTarget(): Target {
  if (held === undefined) throw new Error('Cannot test: no service was chosen');
  return held;
}
