/**
 * One range of `Accept` (RFC 9110 §12.5.1) with quoted parameter values allowed. The groups are type,
 * subtype and parameters.
 */
const RANGE =
  /^([!#$%&'*+.^_`|~\w-]+)\/([!#$%&'*+.^_`|~\w-]+)((?:[ \t]*;[ \t]*(?:[!#$%&'*+.^_`|~\w-]+=(?:[!#$%&'*+.^_`|~\w-]+|"(?:[^"\\]|\\.)*"))?)*)$/;

const WEIGHT = /;[ \t]*q=([^;]*)/i;
const QVALUE = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*$/;

/** List members of a header value: split at commas outside quoted strings (RFC 9110 §5.6.1). */
const MEMBERS = /(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g;

interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly weight: number;
}

/** The range that `text` spells, or undefined when it is not one; `*` may stand for the type only before `/*`. */
function parseRange(text: string): MediaRange | undefined {
  const match = RANGE.exec(text.trim());
  if (match === null) return undefined;
  const [, type = '', subtype = '', parameters = ''] = match;
  if (type === '*' && subtype !== '*') return undefined;
  const weight = WEIGHT.exec(parameters)?.[1] ?? '1';
  if (!QVALUE.test(weight)) return undefined;
  return { type: type.toLowerCase(), subtype: subtype.toLowerCase(), weight: Number(weight) };
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
  const ranges = (accept.match(MEMBERS) ?? []).map(parseRange).filter((range) => range !== undefined);
  if (ranges.length === 0) return true;
  return (
    weightOf('json', ranges) > 0 ||
    weightOf('problem+json', ranges) > 0 ||
    ranges.some(({ type, subtype, weight }) => {
      return (
        type === 'application' && weight > 0 && subtype.length > '+json'.length && subtype.endsWith('+json')
      );
    })
  );
}
