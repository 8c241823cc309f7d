import { quote } from '../../lib/quote.ts';

/** Shows where two texts differ that look equal; empty where no received text looks like a wanted one. */
export function explainLookalike(received: readonly unknown[], wanted: readonly string[]): string {
  for (const one of received) {
    const other = typeof one === 'string' && wanted.find((text) => text !== one && looksLike(text, one));
    if (other) return `; ${quote(one)} is not ${quote(other)}`;
  }
  return '';
}

/** Whether texts differ only in Unicode's forms (UAX #15), or where one has ASCII and the other, say, the Cyrillic о. */
function looksLike(one: string, other: string): boolean {
  const [left, right] = [[...one.normalize('NFKC')], [...other.normalize('NFKC')]];
  const isTwin = (a: string, b = '') => a === b || a > '~' !== b > '~';
  return left.length === right.length && left.every((character, at) => isTwin(character, right[at]));
}
