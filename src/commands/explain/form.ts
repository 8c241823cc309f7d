import type { Algorithm } from '../../auth/keys/algorithms.ts';
import { claimAt } from '../../auth/token/identity.ts';
import {
  MAX_TOKEN_LENGTH,
  otherKindClaim,
  REFUSED_PARAMETERS,
  type RefusedToken,
} from '../../auth/token/read-token.ts';
import { quote, quoteClaim, quoteJson } from '../../lib/quote.ts';

/** Explains an unread token; empty where the refusal says all. @param algorithms those that would be taken. */
export function explainUnread(
  compact: string,
  { code, header = {}, claims = {} }: RefusedToken,
  algorithms: readonly Algorithm[],
): string {
  switch (code) {
    case 'header-form':
      if (!Object.hasOwn(header, 'kid')) return explainJson(compact, 0);
      return `Its "kid" must be a string, received ${quoteJson(header.kid)}.`;
    case 'header-parameter': {
      const refused = REFUSED_PARAMETERS.filter((name) => Object.hasOwn(header, name));
      return `It is ${refused.map(quoteJson).join(', ')}.`;
    }
    case 'kind': {
      const [name, value] = otherKindClaim(claims) ?? [];
      if (name === undefined)
        return `Its "typ" must be "JWT" or "at+jwt" when present, received ${quoteJson(header.typ)}.`;
      return `Its claim ${quoteJson(name)} is ${quoteJson(value)}: send the access token in its place.`;
    }
    case 'algorithm':
      return `Its "alg" must be one of ${algorithms.join(', ')}, received ${quoteClaim(claimAt(header, ['alg']))}.`;
    case 'claims-form':
      return explainJson(compact, 1);
    default:
      return explainForm(compact);
  }
}

/** Characters of a part that a line shows. */
const MAX_SHOWN = 100;

function explainJson(compact: string, part: number): string {
  const text = Buffer.from(compact.split('.')[part] ?? '', 'base64url').toString();
  const shown = quote(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
  return `Each must be a JSON object in UTF-8 in which no name stands twice, received ${shown}.`;
}

/** What people send or paste before a token: names of headers and schemes, and what parts them from it. */
const BEFORE = /^(?:(?:authorization|bearer|jwt|token|dpop|basic)(?:(?:\s|:|%20)+|$))+/i;

// biome-ignore format: a mistake is a row
/** Texts in the place of a token, by their first form that fits; "…" is the text. */
const PASTED: readonly (readonly [RegExp, string])[] = [
  [/^(?:undefined|null|none|nil|nan|true|false)$/i, 'It is the word …: the program had no token when it made the request.'],
  [/^$/, 'It is empty: the program had no token.'],
  [/^\[object Promise\]$/, 'It is …: the program has not waited for the token.'],
  [/^\[object /, 'It is …: the program has sent an object, and the token is a member of it.'],
  [/^\{.*"access_token"/s, 'It is the whole answer of the provider: the token is its member "access_token".'],
  [/^\{\s*"/, 'It is JSON without "access_token".'],
  [/^<(?:!doctype|html)/i, 'It is a page, as of an error or a login.'],
  [/^[{<$%]/, 'It is …: a placeholder that no token has replaced.'],
  [/["'`“”‘’]/, 'It has quotation marks in it.'],
  [/\s/, 'It has white space in it.'],
  [/^ory_at_/, 'It is an opaque token of Ory Hydra, whose setting "strategies.access_token: jwt" makes JWTs.'],
];

/** Explains texts that people paste by mistake; empty for any other text. */
function explainForm(compact: string): string {
  const parts = compact.split('.').length;
  if (compact.length > MAX_TOKEN_LENGTH)
    return `It has ${compact.length} bytes. Where the head of the request exceeds 16 KiB, the answer is 431.`;
  const [before] = BEFORE.exec(compact) ?? [];
  if (before !== undefined) {
    const said = `Leave out ${quote(before.trim())}: a request has the token behind "Authorization: Bearer" and a blank.`;
    return `${said} ${before === compact ? 'There is no token behind it.' : explainForm(compact.slice(before.length))}`.trim();
  }
  const [, said] = PASTED.find(([form]) => form.test(compact)) ?? [];
  if (said !== undefined) return said.replace('…', () => quote(compact));
  if (parts === 5)
    return 'It has five parts: an encrypted token, as refresh tokens may be. Auth0 makes one when nobody asks for an audience.';
  if (parts === 1) return 'It has one part: not a JWT. Ask the issuer for an access token for this audience.';
  if (parts !== 3) return `It has ${parts} parts, and a signed token has three.`;
  const empty = compact.split('.').indexOf('');
  if (empty >= 0)
    return `Its ${['first', 'second', 'third'][empty]} part is empty${empty === 2 ? ': the token is not signed' : ''}.`;
  if (compact.includes('=')) return 'It has padding ("="), which RFC 7515 §2 leaves out.';
  const stray = /[^\w.-]/u.exec(compact)?.[0];
  return stray === undefined ? '' : `It has the character ${quote(stray)}, which no token has.`;
}
