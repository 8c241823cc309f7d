import type { Environment } from '../../environment.ts';
import { quoteAddress } from '../../quote-address.ts';
import { DEVELOPMENT_KEY_ID_PREFIX, isDevelopmentSecret } from '../development/key.ts';
import { parseTrustedAddress } from './address.ts';
import { readKeysFile } from './public-key-file.ts';
import { recognizeKey } from './recognize.ts';
import { readSecretFile } from './secret-file.ts';
import { MIN_SECRET_LENGTH } from './verification-key.ts';

/** Where keys come from: exactly one of these. */
export type KeySource =
  | { readonly kind: 'development'; readonly path: string }
  | { readonly kind: 'secret-file'; readonly path: string }
  | { readonly kind: 'keys-file'; readonly path: string }
  | { readonly kind: 'jwks-url'; readonly url: URL }
  | { readonly kind: 'discovery' };

/** The `TODO_AUTH_*` variables that name a source, as they stand, an empty one as undefined. */
export interface RawKeySource {
  readonly issuer: string | undefined;
  readonly keysFile: string | undefined;
  readonly secretFile: string | undefined;
  readonly jwksUrl: string | undefined;
}

const SOURCES = 'TODO_AUTH_KEYS_FILE, TODO_AUTH_SECRET_FILE and TODO_AUTH_JWKS_URL';

/** The one source that the variables name, with the file it names looked into. Adds to `faults`. */
export async function readKeySource(
  raw: RawKeySource,
  environment: Environment,
  faults: string[],
): Promise<KeySource | undefined> {
  const source = chooseSource(raw, faults);
  if (source?.kind === 'secret-file') faults.push(...(await secretFileFaults(source.path, environment)));
  if (source?.kind === 'keys-file') faults.push(...(await keysFileFaults(source.path, environment)));
  return source;
}

/** RFC 8725 §3.8 wants a key bound to its issuer: one issuer, one source. */
function chooseSource(raw: RawKeySource, faults: string[]): KeySource | undefined {
  const { issuer, keysFile, secretFile, jwksUrl } = raw;
  const given = [
    ['TODO_AUTH_KEYS_FILE', keysFile && JSON.stringify(keysFile)],
    ['TODO_AUTH_SECRET_FILE', secretFile && JSON.stringify(secretFile)],
    ['TODO_AUTH_JWKS_URL', jwksUrl && quoteAddress(jwksUrl)],
  ].filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    const received = given.map(([name, value]) => `${name}=${value}`).join(' and ');
    faults.push(`Of ${SOURCES} only one may be set, received ${received}`);
    return undefined;
  }
  if (keysFile !== undefined) return { kind: 'keys-file', path: keysFile };
  if (secretFile !== undefined) return { kind: 'secret-file', path: secretFile };
  if (jwksUrl !== undefined) {
    const url = parseTrustedAddress(jwksUrl);
    if (url !== undefined) return { kind: 'jwks-url', url };
    const wanted =
      'must begin with "https:", or with "http:" on loopback, without user, password and fragment';
    faults.push(`TODO_AUTH_JWKS_URL ${wanted}, received ${quoteAddress(jwksUrl)}`);
    return undefined;
  }
  return issuer === undefined ? undefined : chooseDiscovery(issuer, faults);
}

function chooseDiscovery(issuer: string, faults: string[]): KeySource | undefined {
  const url = parseTrustedAddress(issuer);
  if (url !== undefined && url.search === '') return { kind: 'discovery' };
  const saidAlready = url === undefined && /^http:/i.test(issuer);
  if (!saidAlready) {
    faults.push(
      `TODO_AUTH_ISSUER must be an "https:" address without query and fragment to find its keys from it, received ` +
        `${quoteAddress(issuer)}; or set one of ${SOURCES}`,
    );
  }
  return undefined;
}

async function secretFileFaults(path: string, environment: Environment): Promise<string[]> {
  const quoted = JSON.stringify(path);
  const file = await readSecretFile(path);
  if (file.outcome === 'fault') {
    return [`TODO_AUTH_SECRET_FILE must name a file with an HMAC secret, received ${quoted}: ${file.reason}`];
  }
  if (
    environment === 'production' &&
    (isDevelopmentSecret(file.secret) || mentionsDevelopmentKey(file.secret))
  ) {
    return [`TODO_AUTH_SECRET_FILE must not be a development key in production, received ${quoted}`];
  }
  const key = recognizeKey(file.secret);
  if (key !== undefined) {
    return [
      `TODO_AUTH_SECRET_FILE must hold an HMAC secret, received what looks like ${key} in ${quoted}: a public key is no ` +
        'secret; name it, as PEM, JWK or JWKS, in TODO_AUTH_KEYS_FILE',
    ];
  }
  if (file.secret.length < MIN_SECRET_LENGTH) {
    return [
      `TODO_AUTH_SECRET_FILE must hold a secret of at least ${MIN_SECRET_LENGTH} bytes (RFC 7518 §3.2), received ` +
        `${file.secret.length} bytes in ${quoted}`,
    ];
  }
  if (file.secret.every((byte) => byte === file.secret[0])) {
    return [
      `TODO_AUTH_SECRET_FILE must hold random bytes, received ${file.secret.length} times the same byte in ${quoted}`,
    ];
  }
  return [];
}

/** The file of a development key, taken for a secret as it stands. */
function mentionsDevelopmentKey(secret: Buffer): boolean {
  return secret.includes(`"${DEVELOPMENT_KEY_ID_PREFIX}`);
}

async function keysFileFaults(path: string, environment: Environment): Promise<string[]> {
  const file = await readKeysFile(path);
  const received = `received ${JSON.stringify(path)}`;
  if (file.outcome === 'fault') {
    return [`TODO_AUTH_KEYS_FILE must name a PEM public key, a JWK or a JWKS, ${received}: ${file.reason}`];
  }
  const development = file.keys.some(({ keyId }) => keyId?.startsWith(DEVELOPMENT_KEY_ID_PREFIX));
  return environment === 'production' && development
    ? [`TODO_AUTH_KEYS_FILE must not hold a development key in production, ${received}`]
    : [];
}
