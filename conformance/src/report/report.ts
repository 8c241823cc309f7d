import type { Outcome } from '../hold.ts';

/** How outcomes are written to standard output; each part is text for the moment when it is known. */
export interface Report {
  begin(checks: number): string;
  outcome(outcome: Outcome, index: number): string;
  end(outcomes: readonly Outcome[], leftOut: readonly string[]): string;
}
