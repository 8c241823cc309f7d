import { quote } from '../../lib/quote.ts';

const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Shows where two texts differ that look equal; empty where no received text looks like a wanted one. */
export function explainLookalike(received: readonly unknown[], wanted: readonly string[]): string {
  for (const one of received) {
    const other = typeof one === 'string' && wanted.find((text) => text !== one && looksLike(text, one));
    if (other) return `; ${quote(one)} is not ${quote(other)}`;
  }
  return '';
}

/** Whether texts differ only in Unicode's forms (UAX #15), characters that show nothing, or by, say, a Cyrillic о. */
function looksLike(one: string, other: string): boolean {
  const [left = [], right = []] = [one, other].map((text) => [
    ...text.normalize('NFKC').replaceAll(UNSEEN, ''),
  ]);
  const isTwin = (a: string, b = '') => a === b || a > '~' !== b > '~';
  return left.length === right.length && left.every((character, at) => isTwin(character, right[at]));
}
