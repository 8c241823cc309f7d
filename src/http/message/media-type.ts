/** A media type or media range as a header spells it (RFC 9110 §8.3.1, §12.5.1); type and subtype in lower case. */
export interface MediaType {
  readonly type: string;
  readonly subtype: string;
  /** Names in lower case; values as they were sent, quotes included. */
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
}

const TYPE = /[ \t]*([!#$%&'*+.^_`|~\w-]+)\/([!#$%&'*+.^_`|~\w-]+)/y;

/** A semicolon and the parameter behind it, or nothing behind it. */
const PARAMETER = /[ \t]*;[ \t]*(?:([!#$%&'*+.^_`|~\w-]+)=([!#$%&'*+.^_`|~\w-]+|"(?:[^"\\]|\\.)*"))?/y;

/** Parses a whole text; undefined when it is no media type. The time is linear in its length. */
export function parseMediaType(text: string): MediaType | undefined {
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
export function listMembers(text: string): readonly string[] {
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
export function hasJsonSuffix(subtype: string): boolean {
  return subtype.length > '+json'.length && subtype.endsWith('+json');
}
