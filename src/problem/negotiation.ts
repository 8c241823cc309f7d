import { hasJsonSuffix, listMembers, type MediaType, parseMediaType } from '../http/message/media-type.ts';

/** A weight, RFC 9110 §12.4.2. */
const QVALUE = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

interface MediaRange extends Pick<MediaType, 'type' | 'subtype'> {
  readonly weight: number;
}

/** The range that `text` spells, or undefined when it is not one; `*` may stand for the type only before `/*`. */
function parseRange(text: string): MediaRange | undefined {
  const range = parseMediaType(text);
  if (range === undefined) return undefined;
  const { type, subtype, parameters } = range;
  if (type === '*' && subtype !== '*') return undefined;
  const weight = parameters.find(({ name }) => name === 'q')?.value ?? '1';
  return QVALUE.test(weight) ? { type, subtype, weight: Number(weight) } : undefined;
}

/** The weight of `application/<subtype>`, decided by the most specific range that matches it. */
function weightOf(subtype: string, ranges: readonly MediaRange[]): number {
  for (const [type, wanted] of [
    ['application', subtype],
    ['application', '*'],
    ['*', '*'],
  ]) {
    const weights = ranges.filter((range) => range.type === type && range.subtype === wanted);
    if (weights.length > 0) return Math.max(...weights.map((range) => range.weight));
  }
  return 0;
}

/**
 * Whether a request's `Accept` admits a Problem Details body (contract N1; specification, Errors 4). A
 * missing header, an empty one and one without any parsable range admit.
 */
export function admitsProblem(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*') return true;
  const ranges = listMembers(accept)
    .map(parseRange)
    .filter((range) => range !== undefined);
  if (ranges.length === 0) return true;
  return (
    weightOf('json', ranges) > 0 ||
    weightOf('problem+json', ranges) > 0 ||
    ranges.some(({ type, subtype, weight }) => type === 'application' && weight > 0 && hasJsonSuffix(subtype))
  );
}
