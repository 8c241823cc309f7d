import { isUtf8 } from 'node:buffer';
import { isJsonObject, parseJson } from '../../lib/parse-json.ts';
import { type Algorithm, readAlgorithm } from '../keys/algorithms.ts';
import { readType, type TokenType } from '../token-type.ts';
import type { Claims } from './identity.ts';
import type { RefusalCode } from './refusal.ts';

/** A token whose form is certain and whose signature is not verified yet. */
export interface UnverifiedToken {
  /** The signed text, RFC 7515 §5.2: header and payload as they stand in the token. */
  readonly signingInput: string;
  readonly signature: Buffer;
  readonly algorithm: Algorithm;
  readonly keyId: string | undefined;
  /** The type in the header, in lower case and without `application/`. */
  readonly type: TokenType | undefined;
  /** The Claims Set. Not to be trusted until the signature is verified. */
  readonly claims: Claims;
}

/** RFC 7515 §4. */
export type Header = Readonly<Record<string, unknown>>;

/** Bytes. Contract A5. */
export const MAX_TOKEN_LENGTH = 12 * 1024;

/**
 * Header parameters that change the signed text or bring their own key: RFC 7515 §4.1.2 to §4.1.6 and §4.1.11, RFC 7797,
 * RFC 7516 §4.1.3. A token that needs one of them was not made for this service (contract A5).
 */
export const REFUSED_PARAMETERS = ['crit', 'b64', 'zip', 'jwk', 'jku', 'x5u', 'x5c'];

/** Claims in which providers and libraries name the kind of a token (RFC 8725 §3.12), without `-` and `_`. */
const KIND_CLAIMS = ['typ', 'type', 'tokentype', 'tokenuse', 'tokenclass', 'tokenname'];

/** Kinds of tokens that are for others, as `kindIn` spells them. */
const OTHER_KINDS = ['refresh', 'offline', 'id', 'logout', 'authorizationcode', 'authcode'];

/** Blanks, and what the names of all kinds have: as a media type (RFC 7515 §4.1.9) and in RFC 8693 §3, too. */
const PART_OF_EVERY_KIND = /^application\/|^urn:ietf:params:oauth:tokentype:|token|\+jwt|\s/g;

/** The kind that a claim names: `refresh` for "Refresh_Token", `logout` for "logout+jwt". */
function kindIn([name, value]: readonly [string, unknown]): string | undefined {
  if (typeof value !== 'string' || !KIND_CLAIMS.includes(plain(name))) return undefined;
  return plain(value).replaceAll(PART_OF_EVERY_KIND, '');
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[-_]/g, '');
}

/** The claim that marks a token of another kind, and its value; undefined for an access token. */
export function otherKindClaim(claims: Claims): readonly [string, unknown] | undefined {
  return Object.entries(claims).find((claim) => OTHER_KINDS.includes(kindIn(claim) ?? ''));
}

/** What only access tokens have, as far as the token shows it, as `TODO_AUTH_REQUIRED_CLAIMS` asks for it. */
export function accessTokenClaim(claims: Claims): string | undefined {
  const isAccess = ([name, value]: readonly [string, unknown]) => name === 'typ' && value === 'Bearer';
  return Object.entries(claims)
    .find((claim) => kindIn(claim) === 'access' || isAccess(claim))
    ?.join('=');
}

/**
 * The strict check before any cryptography (contract A5): the signed text has one spelling only, without padding, white
 * space and stray bits. Does NOT say that anything in the token is true.
 */
export function readToken(compact: string): UnverifiedToken | RefusedToken {
  if (compact.length > MAX_TOKEN_LENGTH) return refuse('token-too-long');
  const segments = compact.split('.');
  const [header, payload, signature] = segments.map(decodeCanonical);
  if (segments.length !== 3 || !header || !payload || !signature) return refuse('token-form');

  const parameters = readObject(header);
  if (parameters === undefined) return refuse('header-form');
  if (Object.hasOwn(parameters, 'kid') && typeof parameters.kid !== 'string')
    return refuse('header-form', undefined, parameters);
  const keyId = typeof parameters.kid === 'string' ? parameters.kid : undefined;
  if (REFUSED_PARAMETERS.some((name) => Object.hasOwn(parameters, name)))
    return refuse('header-parameter', keyId, parameters);
  const type = Object.hasOwn(parameters, 'typ') ? readType(parameters.typ) : undefined;
  if (Object.hasOwn(parameters, 'typ') && type === undefined) return refuse('kind', keyId, parameters);
  const algorithm = Object.hasOwn(parameters, 'alg') ? readAlgorithm(parameters.alg) : undefined;
  if (algorithm === undefined) return refuse('algorithm', keyId, parameters);

  const claims = readObject(payload);
  if (claims === undefined) return refuse('claims-form', keyId, parameters);
  if (otherKindClaim(claims) !== undefined) return refuse('kind', keyId, parameters, claims);
  const signingInput = compact.slice(0, compact.lastIndexOf('.'));
  return { signingInput, signature, algorithm, keyId, type, claims };
}

/** A token refused by its form or kind, with its readable parts. Anybody may have written them: no answer has them. */
export type RefusedToken = ReturnType<typeof refuse>;

function refuse(code: RefusalCode, keyId?: string, header?: Header, claims?: Claims) {
  return { code, keyId, header, claims };
}

/** Base64url, not empty, in the one spelling of its bytes (RFC 7515 §2, RFC 4648 §3.5): `Buffer.from` takes more. */
function decodeCanonical(segment: string): Buffer | undefined {
  const bytes = Buffer.from(segment, 'base64url');
  return bytes.length > 0 && bytes.toString('base64url') === segment ? bytes : undefined;
}

/**
 * The object that every reader makes of the bytes: strict UTF-8 without a byte order mark, and no two members of one name
 * at any depth (RFC 7515 §4, RFC 7519 §4, RFC 8725 §2.6). Unpaired surrogates are accepted.
 */
function readObject(bytes: Buffer): Record<string, unknown> | undefined {
  if (!isUtf8(bytes)) return undefined;
  const parsed = parseJson(bytes.toString('utf8'), { uniqueNames: true });
  return 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : undefined;
}
