/** A media type or media range as a header spells it (RFC 9110 §8.3.1, §12.5.1); type and subtype in lower case. */
interface MediaType {
  readonly type: string;
  readonly subtype: string;
  /** Names in lower case; values as they were sent, quotes included. */
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
}

const TYPE = /[ \t]*([!#$%&'*+.^_`|~\w-]+)\/([!#$%&'*+.^_`|~\w-]+)/y;

/** A semicolon and the parameter behind it, or nothing behind it. */
const PARAMETER = /[ \t]*;[ \t]*(?:([!#$%&'*+.^_`|~\w-]+)=([!#$%&'*+.^_`|~\w-]+|"(?:[^"\\]|\\.)*"))?/y;

/** Parses a whole text; undefined when it is no media type. The time is linear in its length. */
function parseMediaType(text: string): MediaType | undefined {
  TYPE.lastIndex = 0;
  const [start, type = '', subtype = ''] = TYPE.exec(text) ?? [];
  if (start === undefined) return undefined;
  const parameters: { name: string; value: string }[] = [];
  let end = start.length;
  for (;;) {
    PARAMETER.lastIndex = end;
    const [parameter, name, value = ''] = PARAMETER.exec(text) ?? [];
    if (parameter === undefined) break;
    end += parameter.length;
    if (name !== undefined) parameters.push({ name: name.toLowerCase(), value });
  }
  while (text[end] === ' ' || text[end] === '\t') end += 1;
  return end < text.length
    ? undefined
    : { type: type.toLowerCase(), subtype: subtype.toLowerCase(), parameters };
}

/** The members of a list: what stands between commas outside quoted strings (RFC 9110 §5.6.1). */
function listMembers(text: string): readonly string[] {
  const members: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (quoted && character === '\\') at += 1;
    else if (character === '"') quoted = !quoted;
    else if (character === ',' && !quoted) {
      members.push(text.slice(from, at));
      from = at + 1;
    }
  }
  members.push(text.slice(from));
  return members;
}

/**
 * Whether a `Content-Type` names JSON in UTF-8 (contract B2): `application/json` or
 * `application/<something>+json`, with any parameters, and no charset but UTF-8.
 */
export function isJson(contentType: string | undefined): boolean {
  // What nearly every client sends needs no parsing.
  if (contentType === 'application/json') return true;
  const { type, subtype = '', parameters = [] } = parseMediaType(contentType ?? '') ?? {};
  if (type !== 'application' || (subtype !== 'json' && !hasJsonSuffix(subtype))) return false;
  return parameters.every(({ name, value }) => name !== 'charset' || /^(?:utf-8|"utf-8")$/i.test(value));
}

/** `<something>+json` (RFC 6839 §3.1). */
function hasJsonSuffix(subtype: string): boolean {
  return subtype.length > '+json'.length && subtype.endsWith('+json');
}

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
