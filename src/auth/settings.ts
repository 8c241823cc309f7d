import { existsSync } from 'node:fs';
import { asNotUsable, NotUsable } from '../files.ts';
import { quoteAddress, quoteReceived } from '../quote.ts';
import type { Settings } from '../read-settings.ts';
import type { Environment } from '../settings.ts';
import {
  DEVELOPMENT_AUDIENCE,
  DEVELOPMENT_ISSUER,
  DEVELOPMENT_KEY_ID_PREFIX,
  developmentKeyPath,
  readDevelopmentKey,
} from './development.ts';
import { type ClaimPath, type IdentityClaims, parseClaimPath } from './identity.ts';
import { parseTrustedAddress } from './keys/discovery.ts';
import { readFileSource } from './keys/files.ts';
import type { KeySource } from './keys/source.ts';

/** The variables that name a source of keys other than the issuer. */
const SOURCE_VARIABLES = ['TODO_AUTH_KEYS_FILE', 'TODO_AUTH_SECRET_FILE', 'TODO_AUTH_JWKS_URL'] as const;

const SOURCES = 'TODO_AUTH_KEYS_FILE, TODO_AUTH_SECRET_FILE and TODO_AUTH_JWKS_URL';

/** Whose tokens are trusted. */
interface TrustedIssuer {
  readonly issuer: string;
  readonly audience: string;
  readonly source: KeySource;
}

/** Settings that have been found sound, key files included. */
export type AuthSettings = NonNullable<Awaited<ReturnType<typeof readAuth>>>;

/** Whether tokens of an issuer are configured, so that the development key has no say. */
export function namesAnIssuer(settings: Settings): boolean {
  const variables = ['TODO_AUTH_ISSUER', 'TODO_AUTH_AUDIENCE', ...SOURCE_VARIABLES] as const;
  return variables.some((variable) => settings.read(variable) !== undefined);
}

/** Decides what the settings mean and reads the files they name. Does NOT contact the issuer. */
export async function readAuth(settings: Settings, environment: Environment) {
  const external = environment === 'production' || namesAnIssuer(settings);
  const trust = external
    ? await readExternalTrust(settings, environment)
    : await readDevelopmentTrust(settings);
  const claims: IdentityClaims = {
    name: readClaim('TODO_AUTH_NAME_CLAIM', settings),
    role: readClaim('TODO_AUTH_ROLE_CLAIM', settings),
  };
  const tuning = {
    claims,
    /** Clock skew forgiven on `exp`, `nbf` and `iat`, RFC 7519 §4.1.4 (contract A8). */
    clockToleranceSeconds: settings.read(
      'TODO_AUTH_CLOCK_TOLERANCE',
      external ? 'production' : 'development',
    ),
    /** Between two refetches that tokens with an unknown `kid` may cause. */
    keysCooldownMs: settings.read('TODO_AUTH_KEYS_COOLDOWN_SECONDS') * 1000,
    /** Between two refreshes in the background. */
    keysRefreshMs: settings.read('TODO_AUTH_KEYS_REFRESH_SECONDS') * 1000,
  };
  return trust && { ...trust, ...tuning };
}

async function readDevelopmentTrust(settings: Settings): Promise<TrustedIssuer> {
  const path = developmentKeyPath(settings.read('TODO_DATA_DIR'));
  await readDevelopmentKey(path).catch((error) => settings.fault(asNotUsable(error).message));
  return {
    issuer: DEVELOPMENT_ISSUER,
    audience: DEVELOPMENT_AUDIENCE,
    source: { kind: 'development', path },
  };
}

/** An issuer of one's own, its audience and where its keys are. Undefined where one is missing, which is a fault. */
export async function readExternalTrust(
  settings: Settings,
  environment: Environment,
): Promise<TrustedIssuer | undefined> {
  const issuer = settings.read('TODO_AUTH_ISSUER');
  const audience = settings.read('TODO_AUTH_AUDIENCE');
  if (issuer === undefined) {
    settings.refuse(
      'TODO_AUTH_ISSUER',
      'must be the issuer of your tokens, like "https://login.example.org"',
    );
  } else {
    checkIssuer(settings, issuer, environment);
  }
  if (audience === undefined) {
    const wanted = 'must be the "aud" of tokens for this service, like "todo-service"';
    settings.refuse('TODO_AUTH_AUDIENCE', wanted);
  }
  for (const variable of ['TODO_AUTH_ISSUER', 'TODO_AUTH_AUDIENCE'] as const) {
    const value = settings.read(variable);
    if (value !== value?.trim()) settings.refuse(variable, 'must not begin or end with white space');
  }
  const source = await readKeySource(settings, environment);
  if (issuer === undefined || audience === undefined || source === undefined) return undefined;
  return { issuer, audience, source };
}

function checkIssuer(settings: Settings, issuer: string, environment: Environment): void {
  if (issuer === DEVELOPMENT_ISSUER && environment === 'production') {
    settings.refuse('TODO_AUTH_ISSUER', 'must not be the issuer of development tokens in production');
  }
  if (/^http:/i.test(issuer) && parseTrustedAddress(issuer) === undefined) {
    settings.refuse('TODO_AUTH_ISSUER', 'must begin with "https:", or be on loopback');
  }
}

/** The one source that the settings name, whose file is sound. RFC 8725 §3.8 wants a key bound to its issuer. */
async function readKeySource(settings: Settings, environment: Environment): Promise<KeySource | undefined> {
  const [variable, ...more] = SOURCE_VARIABLES.filter((name) => settings.read(name) !== undefined);
  if (variable === undefined) return chooseDiscovery(settings);
  if (more.length > 0) {
    const received = [variable, ...more].map((name) => {
      // It may be the secret itself.
      if (name === 'TODO_AUTH_SECRET_FILE') return name;
      const value = settings.read(name) ?? '';
      return `${name}=${name === 'TODO_AUTH_JWKS_URL' ? quoteReceived(value) : JSON.stringify(value)}`;
    });
    settings.fault(`Of ${SOURCES} only one may be set, received ${received.join(' and ')}`);
    return undefined;
  }
  const value = settings.read(variable) ?? '';
  if (variable === 'TODO_AUTH_JWKS_URL') {
    const url = parseTrustedAddress(value);
    if (url !== undefined) return { kind: 'jwks-url', url };
    const wanted =
      'must begin with "https:", or with "http:" on loopback, without user, password and fragment';
    settings.refuse(variable, wanted);
    return undefined;
  }
  const kind = variable === 'TODO_AUTH_KEYS_FILE' ? 'keys-file' : 'secret-file';
  const source = { kind, path: value } as const;
  const loaded = await readFileSource(source).catch(asNotUsable);
  if (loaded instanceof NotUsable) {
    const wanted = kind === 'keys-file' ? 'a PEM public key, a JWK or a JWKS' : 'a file with HMAC secrets';
    // What is no file may be the secret itself.
    const named = kind === 'keys-file' || existsSync(value) ? JSON.stringify(value) : 'a name';
    settings.refuse(variable, `must name ${wanted}`, `${named}: ${loaded.message}`);
    return undefined;
  }
  const isDevelopment = loaded.keys.some(({ keyId }) => keyId?.startsWith(DEVELOPMENT_KEY_ID_PREFIX));
  if (environment === 'production' && isDevelopment)
    settings.refuse(variable, 'must not hold a development key in production', JSON.stringify(value));
  return source;
}

function chooseDiscovery(settings: Settings): KeySource | undefined {
  const issuer = settings.read('TODO_AUTH_ISSUER');
  if (issuer === undefined) return undefined;
  const url = parseTrustedAddress(issuer);
  if (url !== undefined && url.search === '') return { kind: 'discovery', issuer };
  const saidAlready = url === undefined && /^http:/i.test(issuer);
  if (!saidAlready) {
    const wanted = 'must be an "https:" address without query and fragment to find its keys from it';
    settings.refuse('TODO_AUTH_ISSUER', wanted, `${quoteAddress(issuer)}; or set one of ${SOURCES}`);
  }
  return undefined;
}

function readClaim(
  variable: 'TODO_AUTH_NAME_CLAIM' | 'TODO_AUTH_ROLE_CLAIM',
  settings: Settings,
): ClaimPath | undefined {
  const value = settings.read(variable);
  if (value === undefined) return undefined;
  const path = parseClaimPath(value);
  if (path === undefined) {
    settings.refuse(variable, 'must be the name of a claim, or a JSON Pointer like "/realm_access/roles"');
  }
  return path;
}
