import { createPublicKey } from 'node:crypto';
import { type Failed, failed, readSmallFile } from '../../files.ts';
import { parseJson } from '../../parse-json.ts';
import { DEVELOPMENT_KEY_ID_PREFIX, isDevelopmentSecret } from '../development.ts';
import {
  describeSkipped,
  inOrder,
  type KeySetResult,
  type LoadedKeys,
  readKeySet,
  unusable,
} from './keys.ts';
import { recognizeKey } from './recognize.ts';
import { fromPublicKey, fromSecret, MIN_SECRET_LENGTH } from './verification-key.ts';

/** A file that is read again when it changes. */
export interface FileSource {
  readonly kind: 'secret-file' | 'keys-file';
  readonly path: string;
}

/** The keys of a file. */
export interface FileKeys extends Extract<LoadedKeys, { outcome: 'read' }> {
  /** For people, never secret. */
  readonly contents: string;
  /** Every user of the machine may read what nobody else should. */
  readonly readableByOthers: boolean;
}

export function readKeySourceFile({ kind, path }: FileSource): Promise<FileKeys | Failed> {
  return kind === 'keys-file' ? readKeysFile(path) : readSecretFile(path);
}

/**
 * A PEM public key, a JWK or a JWKS. Fails for secret material anywhere in it: the file is the wrong one. A reason has
 * none of the file's content but `kid`s.
 */
export async function readKeysFile(path: string): Promise<FileKeys | Failed> {
  const file = await readSmallFile(path);
  if (file.outcome !== 'read') return failed(file.reason);
  const text = file.bytes.toString('utf8').trim();
  const set = text.startsWith('{') ? readJson(text) : readPem(text);
  if (set.outcome !== 'read') return failed([set.reason, ...set.skipped.map(describeSkipped)].join('; '));
  const { length } = set.keys;
  const contents = `${length} public key${length === 1 ? '' : 's'} from TODO_AUTH_KEYS_FILE`;
  return { ...set, contents, readableByOthers: false };
}

function readJson(text: string): KeySetResult {
  const parsed = parseJson(text);
  if ('fault' in parsed) return unusable('it is not valid JSON');
  const set = readKeySet(parsed.value);
  const secrets = set.skipped.filter(({ outcome }) => outcome === 'secret');
  return secrets.length > 0 ? unusable(secrets.map(describeSkipped).join('; ')) : set;
}

function readPem(text: string): KeySetResult {
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text)) return unusable('it is a private key');
  if (/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/.test(text)) {
    return unusable('it is a certificate (openssl x509 -pubkey -noout prints its public key)');
  }
  const isOne = text.split('-----BEGIN ').length === 2;
  try {
    const result = isOne ? fromPublicKey(createPublicKey(text)) : undefined;
    if (result?.outcome === 'usable') return { outcome: 'read', keys: [result.key], skipped: [] };
    if (result !== undefined) return unusable(result.reason);
  } catch {
    // What OpenSSL says of it is not for people.
  }
  return unusable('it is not a PEM public key, a JWK or a JWKS');
}

export interface SecretFile extends FileKeys {
  /** Up to 5, in the order of the file. */
  readonly secrets: readonly Buffer[];
}

/** As many as signatures are tried for one token (contract A7). */
const MAX_SECRETS = 5;

const PREFIX = 'base64:';

/**
 * HMAC secrets. A line that begins with `base64:` begins one, lines without it continue it (RFC 4648 §4). A file that
 * begins otherwise is one secret: its bytes as they stand without one final line break. Never a guess: 64 hex digits are
 * valid base64 too. One secret that will not do fails the file, with a reason that has nothing of its content.
 */
export async function readSecretFile(path: string): Promise<SecretFile | Failed> {
  const file = await readSmallFile(path);
  if (file.outcome !== 'read') return failed(file.reason);
  const secrets = parseSecrets(file.bytes);
  if (secrets.length > MAX_SECRETS) {
    return failed(`it must hold at most ${MAX_SECRETS} secrets, received ${secrets.length}`);
  }
  for (const [index, secret] of secrets.entries()) {
    const fault = secret === undefined ? NOT_BASE64 : secretFault(secret);
    if (fault !== undefined)
      return failed(secrets.length === 1 ? `it ${fault}` : `secret ${index + 1} ${fault}`);
  }
  const sound = secrets.filter((secret) => secret !== undefined);
  const keys = inOrder(sound.map((secret) => fromSecret(secret)));
  if (keys.length < sound.length) return failed('it must not hold the same secret twice');
  const lengths = sound.map((secret) => secret.length).join(', ');
  const contents = `HMAC secret${sound.length === 1 ? '' : 's'} of ${lengths} bytes from TODO_AUTH_SECRET_FILE`;
  const { readableByOthers } = file;
  return { outcome: 'read', keys, skipped: [], contents, readableByOthers, secrets: sound };
}

const NOT_BASE64 = 'must be base64 with its padding behind "base64:"';

/** What a file says, sound or not; undefined for what is no base64. */
export function parseSecrets(bytes: Buffer): readonly (Buffer | undefined)[] {
  // A character for every byte.
  const text = bytes.toString('latin1');
  if (!text.startsWith(PREFIX)) return [Buffer.from(text.replace(/\r?\n$/, ''), 'latin1')];
  const [, ...encoded] = text.split(/^base64:/m);
  return encoded.map((lines) => {
    const base64 = lines.replaceAll(/[\r\n]/g, '');
    const secret = Buffer.from(base64, 'base64');
    return secret.toString('base64') === base64 ? secret : undefined;
  });
}

/** Why a secret must not be trusted, for people, without any of it. */
function secretFault(secret: Buffer): string | undefined {
  // The file of a development key, taken for a secret as it stands, has its kid in it.
  if (isDevelopmentSecret(secret) || secret.includes(`"${DEVELOPMENT_KEY_ID_PREFIX}`)) {
    return 'must not be a development key';
  }
  const key = recognizeKey(secret);
  if (key !== undefined) {
    return (
      `must be an HMAC secret, received what looks like ${key}: a public key is no secret; name it, as PEM, JWK or JWKS, ` +
      'in TODO_AUTH_KEYS_FILE'
    );
  }
  // A byte order mark, UTF-16, or a line above.
  if (
    secret
      .toString('latin1')
      .replaceAll(/[^!-~]/g, '')
      .startsWith(PREFIX)
  ) {
    return 'must begin with "base64:", received that behind something else, or encoded twice';
  }
  if (secret.length < MIN_SECRET_LENGTH) {
    return `must have at least ${MIN_SECRET_LENGTH} bytes (RFC 7518 §3.2), received ${secret.length} bytes`;
  }
  if (secret.every((byte) => byte === secret[0])) {
    return `must be random bytes, received ${secret.length} times the same byte`;
  }
  return undefined;
}
