import { asNotUsable, NotUsable } from '../lib/errors.ts';
import { decodeEntry, readList } from '../lib/list-setting.ts';
import type { Settings } from '../settings/read.ts';
import type { Environment, Variable } from '../settings/table.ts';
import {
  DEVELOPMENT_AUDIENCE,
  DEVELOPMENT_ISSUER,
  DEVELOPMENT_KEY_ID_PREFIX,
  developmentKeyPath,
  readDevelopmentKey,
} from './development.ts';
import { readFileSource } from './keys/files.ts';
import { readProxy } from './keys/proxy.ts';
import type { KeySource } from './keys/source.ts';
import { parseTrustedAddress } from './keys/trusted-address.ts';
import { parseRequiredClaim, type RequiredClaim } from './required-claims.ts';
import { type ClaimPath, type IdentityClaims, parseClaimPath } from './token/identity.ts';
import { readType, type TokenType } from './token-type.ts';

/** The variables that name a source of keys other than the issuer. */
const SOURCE_VARIABLES = ['TODO_AUTH_KEYS_FILE', 'TODO_AUTH_SECRET_FILE', 'TODO_AUTH_JWKS_URL'] as const;

const SOURCES = 'TODO_AUTH_KEYS_FILE, TODO_AUTH_SECRET_FILE and TODO_AUTH_JWKS_URL';

/** The tokens that are trusted, beyond their form, key and times. */
export interface TrustedTokens {
  readonly issuer: string;
  /** At least one: a token needs only one of them. */
  readonly audiences: readonly string[];
  /** The claim that has to hold an audience, where `aud` may be missing. */
  readonly audienceClaim?: ClaimPath | undefined;
  readonly requiredClaims?: readonly RequiredClaim[] | undefined;
  /** The `typ` that a token must have; undefined: any that is accepted, or none. */
  readonly tokenType?: TokenType | undefined;
}

interface TrustedIssuer extends TrustedTokens {
  readonly source: KeySource;
  /** The issuer's names of the role `editor`. */
  readonly editorRoles?: readonly string[] | undefined;
}

/** Settings that have been found sound, key files included. */
export type AuthSettings = NonNullable<Awaited<ReturnType<typeof readAuth>>>;

/** Whether tokens of an issuer are configured, so that the development key is not used. */
export function namesAnIssuer(settings: Settings): boolean {
  const variables = ['TODO_AUTH_ISSUER', 'TODO_AUTH_AUDIENCE', ...SOURCE_VARIABLES] as const;
  return variables.some((variable) => settings.read(variable) !== undefined);
}

/** Decides by the settings and reads the files they name. Does NOT contact the issuer. */
export async function readAuth(settings: Settings, environment: Environment) {
  const external = environment === 'production' || namesAnIssuer(settings);
  const trust = external
    ? await readExternalTrust(settings, environment)
    : await readDevelopmentTrust(settings);
  const claims: IdentityClaims = {
    name: readClaim('TODO_AUTH_NAME_CLAIM', settings),
    role: readClaim('TODO_AUTH_ROLE_CLAIM', settings),
    editorRoles: trust?.editorRoles,
  };
  const tuning = {
    claims,
    /** Clock skew forgiven on `exp`, `nbf` and `iat`, RFC 7519 §4.1.4 (contract A8). */
    clockToleranceSeconds: settings.read(
      'TODO_AUTH_CLOCK_TOLERANCE',
      external ? 'production' : 'development',
    ),
    /** Milliseconds between two refetches for tokens that no key verifies. */
    keysCooldownMs: settings.read('TODO_AUTH_KEYS_COOLDOWN_SECONDS') * 1000,
    /** Milliseconds between two refreshes in the background. */
    keysRefreshMs: settings.read('TODO_AUTH_KEYS_REFRESH_SECONDS') * 1000,
  };
  return trust && { ...trust, ...tuning };
}

async function readDevelopmentTrust(settings: Settings): Promise<TrustedIssuer> {
  const path = developmentKeyPath(settings.read('TODO_DATA_DIR'));
  await readDevelopmentKey(path).catch((error) =>
    settings.fault(asNotUsable(error).message, 'TODO_DATA_DIR'),
  );
  // Read only to find their faults: they do not hold for development tokens (contract A15).
  readRules(settings);
  return {
    issuer: DEVELOPMENT_ISSUER,
    audiences: [DEVELOPMENT_AUDIENCE],
    source: { kind: 'development', path },
  };
}

/** An issuer with its audience and the place of its keys. Undefined where one is missing, which is a fault. */
export async function readExternalTrust(
  settings: Settings,
  environment: Environment,
): Promise<TrustedIssuer | undefined> {
  const issuer = settings.read('TODO_AUTH_ISSUER');
  const audiences = readEntries('TODO_AUTH_AUDIENCE', settings, decodeEntry);
  if (issuer === undefined) {
    const wanted = 'must be the issuer of your tokens, like "https://login.example.org"';
    settings.refuse('TODO_AUTH_ISSUER', wanted);
  } else if (issuer === DEVELOPMENT_ISSUER && environment === 'production') {
    settings.refuse('TODO_AUTH_ISSUER', 'must not be the issuer of development tokens in production');
  }
  if (audiences === undefined) {
    const wanted = 'must be the "aud" of tokens for this service, like "todo-service"';
    settings.refuse('TODO_AUTH_AUDIENCE', wanted);
  }
  const rules = readRules(settings);
  const source = await readKeySource(settings, environment);
  if (issuer === undefined || audiences === undefined || source === undefined) return undefined;
  return { issuer, audiences, source, ...rules };
}

function readRules(settings: Settings) {
  return {
    audienceClaim: readAudienceClaim(settings),
    requiredClaims: readEntries('TODO_AUTH_REQUIRED_CLAIMS', settings, parseRequiredClaim),
    editorRoles: readEditorRoles(settings),
    tokenType: readTokenType(settings),
  };
}

const LIST =
  'without white space around an entry; %2C, %3D, %25, %20 and %23 stand for a comma, "=", "%", a blank and "#"';

const WANTED = {
  TODO_AUTH_AUDIENCE: `must be audiences, separated by commas, ${LIST}`,
  TODO_AUTH_EDITOR_ROLE: `must be roles, separated by commas, ${LIST}`,
  TODO_AUTH_REQUIRED_CLAIMS: `must be "name=value" or "!name", separated by commas, ${LIST}; a name behind "!" has letters, digits and "_-.:/"`,
} as const satisfies Partial<Record<Variable, string>>;

/** The entries of a list; undefined when it is not set. All its malformed entries are one fault. */
function readEntries<Entry>(
  variable: keyof typeof WANTED,
  settings: Settings,
  parse: (entry: string) => Entry | undefined,
): readonly Entry[] | undefined {
  const text = settings.read(variable);
  if (text === undefined) return undefined;
  const { entries, malformed } = readList(text, parse);
  const received = malformed.map((entry) => settings.quoted(variable, entry)).join(' and ');
  if (malformed.length > 0) settings.refuse(variable, WANTED[variable], received);
  return entries;
}

function readEditorRoles(settings: Settings): readonly string[] | undefined {
  const entries = settings.read('TODO_AUTH_EDITOR_ROLE')?.split(',') ?? [];
  const isSplit = (entry: string, next?: string) =>
    next !== undefined &&
    (entry.endsWith('\\') ||
      (entry.includes('=') && next.includes('=') && !(entry.includes('%2C') && next.includes('%2C'))));
  // A comma would split a distinguished name (RFC 4514) into roles, the last of which a whole domain has.
  if (entries.some((entry, at) => isSplit(entry, entries[at + 1]))) {
    const wanted = 'must have %2C for the commas of one name, or %3D for the "=" of several names';
    return settings.refuse('TODO_AUTH_EDITOR_ROLE', wanted);
  }
  return readEntries('TODO_AUTH_EDITOR_ROLE', settings, decodeEntry);
}

function readAudienceClaim(settings: Settings): ClaimPath | undefined {
  const path = readClaim('TODO_AUTH_AUDIENCE_CLAIM', settings);
  if (path?.length === 1 && path[0] === 'iss') {
    settings.refuse('TODO_AUTH_AUDIENCE_CLAIM', 'must not be "iss", which every token of the issuer has');
  }
  return path;
}

function readTokenType(settings: Settings): TokenType | undefined {
  const text = settings.read('TODO_AUTH_TOKEN_TYPE');
  if (text === undefined) return undefined;
  const wanted = 'must be the "typ" of tokens, "at+jwt" or "JWT"';
  return readType(text) ?? settings.refuse('TODO_AUTH_TOKEN_TYPE', wanted);
}

/** The one source that the settings name, whose file is sound. RFC 8725 §3.8 wants a key bound to its issuer. */
async function readKeySource(settings: Settings, environment: Environment): Promise<KeySource | undefined> {
  const [variable, ...more] = SOURCE_VARIABLES.filter((name) => settings.read(name) !== undefined);
  if (variable === undefined) return chooseDiscovery(settings);
  if (more.length > 0) {
    const received = [variable, ...more];
    // Values are not shown: one may be a secret itself.
    settings.fault(`Of ${SOURCES} only one may be set, received ${received.join(' and ')}`, ...received);
    return undefined;
  }
  const value = settings.read(variable) ?? '';
  if (variable === 'TODO_AUTH_JWKS_URL') {
    const proxy = readProxy(settings);
    const url = parseTrustedAddress(value);
    if (url !== undefined) return { kind: 'jwks-url', url, proxy };
    const wanted =
      'must begin with "https:", or with "http:" on loopback, without user, password and fragment';
    return settings.refuse(variable, wanted);
  }
  const kind = variable === 'TODO_AUTH_KEYS_FILE' ? 'keys-file' : 'secret-file';
  const source = { kind, path: value } as const;
  const loaded = await readFileSource(source).catch(asNotUsable);
  if (loaded instanceof NotUsable) {
    const wanted = kind === 'keys-file' ? 'a PEM public key, a JWK or a JWKS' : 'a file with HMAC secrets';
    const received = `${settings.quoted(variable, value)}: ${loaded.message}`;
    return settings.refuse(variable, `must name ${wanted}`, received);
  }
  const isDevelopment = loaded.keys.some(({ keyId }) => keyId?.startsWith(DEVELOPMENT_KEY_ID_PREFIX));
  if (environment === 'production' && isDevelopment)
    settings.refuse(variable, 'must not hold a development key in production');
  return source;
}

function chooseDiscovery(settings: Settings): KeySource | undefined {
  const issuer = settings.read('TODO_AUTH_ISSUER');
  if (issuer === undefined) return undefined;
  const proxy = readProxy(settings);
  const url = parseTrustedAddress(issuer);
  if (url !== undefined && url.search === '') return { kind: 'discovery', issuer, proxy };
  const wanted = 'must be an "https:" address without query and fragment to find its keys from it';
  const received = `${settings.quoted('TODO_AUTH_ISSUER', issuer)}; or set one of ${SOURCES}`;
  return settings.refuse('TODO_AUTH_ISSUER', wanted, received);
}

function readClaim(
  variable: 'TODO_AUTH_NAME_CLAIM' | 'TODO_AUTH_ROLE_CLAIM' | 'TODO_AUTH_AUDIENCE_CLAIM',
  settings: Settings,
): ClaimPath | undefined {
  const value = settings.read(variable);
  if (value === undefined) return undefined;
  const wanted = 'must be the name of a claim, or a JSON Pointer like "/realm_access/roles"';
  return parseClaimPath(value) ?? settings.refuse(variable, wanted);
}
