const TYPE = /^[ \t]*([!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+)[ \t]*$/;

/** A parameter, or the empty string between two semicolons. */
const PARAMETER = /^[ \t]*(?:([!#$%&'*+.^_`|~\w-]+)=([!#$%&'*+.^_`|~\w-]+|"(?:[^"\\]|\\.)*")[ \t]*)?$/;

/**
 * A media type or range (RFC 9110 §8.3.1, §12.5.1) and its parameters, names in lower case, values as they were sent, quotes
 * included; undefined when one of these is malformed.
 */
function parseMediaType(type: string, parameters: readonly string[]) {
  const name = TYPE.exec(type)?.[1];
  if (name === undefined) return undefined;
  const parsed: { name: string; value: string }[] = [];
  for (const parameter of parameters) {
    const [part, name, value = ''] = PARAMETER.exec(parameter) ?? [];
    if (part === undefined) return undefined;
    if (name !== undefined) parsed.push({ name: name.toLowerCase(), value });
  }
  return { name: name.toLowerCase(), parameters: parsed };
}

/** The parts between separators outside quoted strings (RFC 9110 §5.6.1, §5.6.6). The time is linear in the length. */
function split(text: string, separator: ',' | ';'): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (quoted && character === '\\') at += 1;
    else if (character === '"') quoted = !quoted;
    else if (character === separator && !quoted) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}

/**
 * The reason why a `Content-Type` does not name JSON in UTF-8 (contract B2): `application/json` or
 * `application/<something>+json`, with any parameters, and no charset but UTF-8. Undefined when it does.
 */
export function jsonTypeFault(contentType: string | undefined): 'missing' | 'type' | 'charset' | undefined {
  // Nearly every client sends this, which needs no parsing.
  if (contentType === 'application/json') return undefined;
  if (contentType === undefined || contentType === '') return 'missing';
  const [name = '', ...own] = split(contentType, ';');
  const type = parseMediaType(name, own);
  if (type === undefined || !(type.name === 'application/json' || JSON_SUFFIX.test(type.name))) return 'type';
  const isOther = type.parameters.some(({ name, value }) => name === 'charset' && !UTF_8.test(value));
  return isOther ? 'charset' : undefined;
}

/** UTF-8, also in its spelling without the hyphen. */
const UTF_8 = /^(?:utf-?8|"utf-?8")$/i;

/** `application/<something>+json` (RFC 6839 §3.1). */
const JSON_SUFFIX = /^application\/.+\+json$/;

/** The parameter that is a weight (RFC 9110 §12.4.2), whatever its value. */
const WEIGHT = /^[ \t]*q[ \t]*(?:=|$)/i;

/** A weight that excludes. Every other admits: no two are compared, and one outside of the grammar needs no number. */
const ZERO = /^[ \t]*q[ \t]*=[ \t]*(?:0+(?:\.0*)?|\.0+)[ \t]*$/i;

interface MediaRange {
  readonly name: string;
  readonly admits: boolean;
}

/** The range that `text` spells, or undefined when it is malformed; `*` may stand for the type only before `/*`. */
function parseRange(text: string): MediaRange | undefined {
  const [name = '', ...own] = split(text, ';');
  const { true: weights = [], false: parameters = [] } = Object.groupBy(
    own,
    (each) => `${WEIGHT.test(each)}`,
  );
  const range = parseMediaType(name, parameters);
  if (range === undefined || /^\*\/(?!\*$)/.test(range.name)) return undefined;
  return { name: range.name, admits: !ZERO.test(weights[0] ?? '') };
}

/** Whether the most specific range that matches a type of `application` admits it. */
function isAcceptable(type: string, ranges: readonly MediaRange[]): boolean {
  const names = [type, 'application/*', '*/*'];
  const name = names.find((each) => ranges.some((range) => range.name === each));
  return ranges.some((range) => range.name === name && range.admits);
}

/** Whether `Accept` admits a Problem Details body (contract N1; Errors 4). Without a range that can be read it does. */
export function admitsProblem(accept: string | undefined): boolean {
  if (accept === undefined || accept === '*/*') return true;
  const ranges = split(accept, ',')
    .map(parseRange)
    .filter((range) => range !== undefined);
  if (ranges.length === 0) return true;
  return (
    isAcceptable('application/json', ranges) ||
    isAcceptable('application/problem+json', ranges) ||
    ranges.some((range) => range.admits && JSON_SUFFIX.test(range.name))
  );
}
