import type { Claims } from '../../auth/token/identity.ts';
import {
  type Header,
  MAX_TOKEN_LENGTH,
  otherKindClaim,
  REFUSED_PARAMETERS,
} from '../../auth/token/read-token.ts';
import type { RefusalCode } from '../../auth/token/refusal.ts';
import { quote, quoteJson } from '../../lib/quote.ts';

/** Explains texts that people paste by mistake; empty for any other text. */
export function explainForm(compact: string): string {
  const parts = compact.split('.').length;
  if (compact.length > MAX_TOKEN_LENGTH) {
    return `It has ${compact.length} bytes. Where the head of the request exceeds 16 KiB, the answer is 431.`;
  }
  if (/^bearer\b/i.test(compact)) return 'Leave out the word "Bearer".';
  if (/["']/.test(compact)) return 'It has quotation marks in it.';
  if (/\s/.test(compact)) return 'It has white space in it.';
  if (compact.startsWith('ory_at_')) {
    return 'It is an opaque token of Ory Hydra, whose setting "strategies.access_token: jwt" makes JWTs.';
  }
  if (parts === 5) {
    return 'It has five parts: an encrypted token. Auth0 makes one when nobody has asked for an audience: ask for it.';
  }
  if (parts === 1) return 'It has one part: not a JWT. Ask the issuer for an access token for this audience.';
  if (parts !== 3) return `It has ${parts} parts, and a signed token has three.`;
  const empty = compact.split('.').indexOf('');
  if (empty >= 0) {
    return `Its ${['first', 'second', 'third'][empty]} part is empty${empty === 2 ? ': the token is not signed' : ''}.`;
  }
  if (compact.includes('=')) return 'It has padding ("="), which RFC 7515 §2 leaves out.';
  const stray = /[^\w.-]/u.exec(compact)?.[0];
  return stray === undefined ? '' : `It has the character ${quote(stray)}, which no token has.`;
}

/** Explains the member of the header, or the kind of token, that is not accepted; empty without a fault. */
export function explainHeader(header: Header, claims: Claims | undefined, code: RefusalCode): string {
  switch (code) {
    case 'header-parameter': {
      const refused = REFUSED_PARAMETERS.filter((name) => Object.hasOwn(header, name));
      return `It is ${refused.map(quoteJson).join(', ')}.`;
    }
    case 'kind':
      if (claims !== undefined) return explainOtherKind(claims);
      return `Its "typ" must be "JWT" or "at+jwt" when present, received ${quoteJson(header.typ)}.`;
    case 'algorithm':
      return header.alg === undefined ? 'It has no "alg".' : `Its "alg" is ${quoteJson(header.alg)}.`;
    default:
      return '';
  }
}

function explainOtherKind(claims: Claims): string {
  const [name, value] = otherKindClaim(claims) ?? [];
  return `Its claim ${quoteJson(name)} is ${quoteJson(value)}: send the access token in its place.`;
}
