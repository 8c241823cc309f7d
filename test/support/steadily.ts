import { setTimeout as pause } from 'node:timers/promises';

/**
 * Sends so many times a second, in a steady rhythm that waits for no answer.
 *
 * @param send Is told how many went before, and when it was due, of `performance.now()`.
 */
export async function steadily<T>(
  perSecond: number,
  seconds: number,
  send: (nth: number, due: number) => Promise<T>,
): Promise<T[]> {
  const began = performance.now();
  const sent: Promise<T>[] = [];
  while (sent.length < perSecond * seconds) {
    const due = began + (sent.length * 1_000) / perSecond;
    const early = due - performance.now();
    if (early > 0) await pause(early);
    else sent.push(send(sent.length, due));
  }
  return Promise.all(sent);
}

/** The value below which this share of all lies, from 0 to less than 1. NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}
