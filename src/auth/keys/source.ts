import { existsSync } from 'node:fs';
import { asNotUsable, NotUsable } from '../../files.ts';
import { quoteAddress, quoteReceived } from '../../quote.ts';
import type { Settings } from '../../read-settings.ts';
import type { Environment } from '../../settings.ts';
import { DEVELOPMENT_KEY_ID_PREFIX, openDevelopmentKey } from '../development.ts';
import type { AuthSettings } from '../settings.ts';
import { parseTrustedAddress } from './discovery.ts';
import { type FileSource, openWatchedKeys, readKeysFile, readSecretFile } from './files.ts';
import { fixedKeys, type Keys, type KeysOptions } from './keys.ts';
import { openRemoteKeys } from './remote.ts';
import { fromSecret } from './verification-key.ts';

/** Where keys come from: exactly one of these. */
export type KeySource = { readonly kind: 'development'; readonly path: string } | FileSource | RemoteSource;

export type RemoteSource =
  | { readonly kind: 'jwks-url'; readonly url: URL }
  /** The issuer as configured: the discovery document must repeat it character by character. */
  | { readonly kind: 'discovery'; readonly issuer: string };

const SOURCES = 'TODO_AUTH_KEYS_FILE, TODO_AUTH_SECRET_FILE and TODO_AUTH_JWKS_URL';

/** The variables that name a source other than the issuer. */
export const SOURCE_VARIABLES = [
  'TODO_AUTH_KEYS_FILE',
  'TODO_AUTH_SECRET_FILE',
  'TODO_AUTH_JWKS_URL',
] as const;

/** The one source that the settings name, after the file it names was read. */
export async function readKeySource(
  settings: Settings,
  environment: Environment,
): Promise<KeySource | undefined> {
  const source = chooseSource(settings);
  let fault: string | undefined;
  if (source?.kind === 'secret-file') fault = await secretFileFault(source.path);
  if (source?.kind === 'keys-file') fault = await keysFileFault(source.path, environment);
  if (fault !== undefined) settings.fault(fault);
  return source;
}

/** RFC 8725 §3.8 wants a key bound to its issuer: one issuer, one source. */
function chooseSource(settings: Settings): KeySource | undefined {
  const [variable, ...more] = SOURCE_VARIABLES.filter((name) => settings.text(name) !== undefined);
  if (variable !== undefined && more.length > 0) {
    const received = [variable, ...more].map((name) => {
      // It may be the secret itself.
      if (name === 'TODO_AUTH_SECRET_FILE') return name;
      const value = settings.text(name) ?? '';
      return `${name}=${name === 'TODO_AUTH_JWKS_URL' ? quoteReceived(value) : JSON.stringify(value)}`;
    });
    settings.fault(`Of ${SOURCES} only one may be set, received ${received.join(' and ')}`);
    return undefined;
  }
  const value = variable === undefined ? undefined : settings.text(variable);
  if (value === undefined) return chooseDiscovery(settings);
  if (variable === 'TODO_AUTH_KEYS_FILE') return { kind: 'keys-file', path: value };
  if (variable === 'TODO_AUTH_SECRET_FILE') return { kind: 'secret-file', path: value };
  const url = parseTrustedAddress(value);
  if (url !== undefined) return { kind: 'jwks-url', url };
  const wanted = 'must begin with "https:", or with "http:" on loopback, without user, password and fragment';
  settings.refuse('TODO_AUTH_JWKS_URL', wanted);
  return undefined;
}

function chooseDiscovery(settings: Settings): KeySource | undefined {
  const issuer = settings.text('TODO_AUTH_ISSUER');
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

async function secretFileFault(path: string): Promise<string | undefined> {
  const file = await readSecretFile(path).catch(asNotUsable);
  if (!(file instanceof NotUsable)) return undefined;
  // What is no file may be the secret itself.
  const received = `received ${existsSync(path) ? JSON.stringify(path) : 'a name'}`;
  return `TODO_AUTH_SECRET_FILE must name a file with HMAC secrets, ${received}: ${file.message}`;
}

async function keysFileFault(path: string, environment: Environment): Promise<string | undefined> {
  const file = await readKeysFile(path).catch(asNotUsable);
  const received = `received ${JSON.stringify(path)}`;
  if (file instanceof NotUsable) {
    return `TODO_AUTH_KEYS_FILE must name a PEM public key, a JWK or a JWKS, ${received}: ${file.message}`;
  }
  const development = file.keys.some(({ keyId }) => keyId?.startsWith(DEVELOPMENT_KEY_ID_PREFIX));
  return environment === 'production' && development
    ? `TODO_AUTH_KEYS_FILE must not hold a development key in production, ${received}`
    : undefined;
}

/**
 * Opens the one source of keys. An issuer that does not answer is no reason to reject.
 *
 * @throws {NotUsable} when a file that `readAuth` has found sound is so no longer, or the
 * development key cannot be made.
 */
export async function openKeys(settings: AuthSettings, options: KeysOptions): Promise<Keys> {
  const { source } = settings;
  switch (source.kind) {
    case 'development': {
      const { secret, keyId } = await openDevelopmentKey(source.path);
      return fixedKeys([fromSecret(secret, keyId, 'HS256')], `development key ${keyId} in ${source.path}`);
    }
    case 'secret-file':
    case 'keys-file':
      return openWatchedKeys(source, options);
    case 'jwks-url':
    case 'discovery':
      return openRemoteKeys(source, {
        ...options,
        cooldownMs: settings.keysCooldownMs,
        refreshMs: settings.keysRefreshMs,
      });
  }
}
