import { createPublicKey, type KeyObject } from 'node:crypto';
import { asNotUsable, fingerprintOf, NotUsable, readSmallFile } from '../../files.ts';
import { parseJson } from '../../parse-json.ts';
import { DEVELOPMENT_KEY_ID_PREFIX, isDevelopmentSecret } from '../development.ts';
import {
  currentKeys,
  describeSkipped,
  inOrder,
  type Keys,
  type KeysOptions,
  type LoadedKeys,
  MAX_TRIES,
  readKeySet,
} from './keys.ts';
import { recognizeKey } from './recognize.ts';
import { fromPublicKey, fromSecret, MIN_SECRET_LENGTH } from './verification-key.ts';

/** A file that is read again when it changes. */
export interface FileSource {
  readonly kind: 'secret-file' | 'keys-file';
  readonly path: string;
}

/**
 * The keys of the file. The secrets themselves are not kept.
 *
 * @throws {NotUsable} when it has no usable key.
 */
export async function readFileSource({ kind, path }: FileSource) {
  if (kind === 'keys-file') return readKeysFile(path);
  const { secrets: _, ...loaded } = await readSecretFile(path);
  return loaded;
}

/** A key or a secret that was taken out is trusted for less than a second. */
const INTERVAL_MS = 500;

/**
 * The keys or the secrets of a file, reread when it changes, and replaced only as a whole. Polls instead of waiting for
 * the file system to tell: files that are replaced by renaming, or through the links of a mounted volume, tell of nothing.
 *
 * @throws {NotUsable} when a file that `readAuth` has found sound is so no longer; later faults leave the known keys in
 * force.
 */
export async function openWatchedKeys(source: FileSource, options: KeysOptions): Promise<Keys> {
  const { kind, path } = source;
  const { current, update } = currentKeys(`the file ${path}`, options);
  let seen = await fingerprintOf(path);
  let loaded = await readFileSource(source).catch((error) => {
    const what = kind === 'keys-file' ? 'keys' : 'secret';
    throw new NotUsable(`The ${what} file "${path}" has changed: ${asNotUsable(error).message}`);
  });
  if (loaded.readableByOthers) options.tell({ event: 'secret-file-readable', path });
  update(loaded);
  let running: Promise<void> | undefined;

  async function reread(): Promise<void> {
    const now = await fingerprintOf(path);
    if (now === seen) return;
    const read = await readFileSource(source).catch(asNotUsable);
    // Written or replaced meanwhile: half of it may have been read, and the next poll reads it again.
    if ((await fingerprintOf(path)) !== now) return;
    seen = now;
    update(read);
    if (!(read instanceof NotUsable)) loaded = read;
  }

  function poll(): Promise<void> {
    running ??= reread().finally(() => {
      running = undefined;
    });
    return running;
  }

  const timer = setInterval(poll, INTERVAL_MS).unref();
  return {
    current,
    refresh: poll,
    retryAfter: () => 1,
    describe: () => loaded.contents,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}

/**
 * A PEM public key, a JWK or a JWKS, with at least one key. `contents` is for people, and never secret;
 * `readableByOthers`: every user of the machine may read what nobody else should.
 *
 * @throws {NotUsable} also for secret material anywhere in it: the file is the wrong one. The message has none of the
 * file's content but `kid`s.
 */
export async function readKeysFile(path: string) {
  const { bytes } = await readSmallFile(path);
  const text = bytes.toString('utf8').trim();
  const set = text.startsWith('{') ? readJson(text) : readPem(text);
  if (set.fault !== undefined)
    throw new NotUsable([set.fault, ...set.skipped.map(describeSkipped)].join('; '));
  const { length } = set.keys;
  const contents = `${length} public key${length === 1 ? '' : 's'} from TODO_AUTH_KEYS_FILE`;
  return { ...set, contents, readableByOthers: false };
}

function readJson(text: string): LoadedKeys {
  const parsed = parseJson(text);
  if ('fault' in parsed) throw new NotUsable('it is not valid JSON');
  const set = readKeySet(parsed.value);
  const secrets = set.skipped.filter(({ kind }) => kind === 'secret');
  if (secrets.length > 0) throw new NotUsable(secrets.map(describeSkipped).join('; '));
  return set;
}

function readPem(text: string): LoadedKeys {
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text)) throw new NotUsable('it is a private key');
  if (/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/.test(text)) {
    throw new NotUsable('it is a certificate (openssl x509 -pubkey -noout prints its public key)');
  }
  const isOne = text.split('-----BEGIN ').length === 2;
  let material: KeyObject | undefined;
  try {
    material = isOne ? createPublicKey(text) : undefined;
  } catch {
    // What OpenSSL says of it is not for people.
  }
  if (material === undefined) throw new NotUsable('it is not a PEM public key, a JWK or a JWKS');
  const key = fromPublicKey(material);
  if ('reason' in key) throw new NotUsable(key.reason);
  return { keys: [key], skipped: [] };
}

const PREFIX = 'base64:';

/**
 * HMAC secrets. A line that begins with `base64:` begins one, lines without it continue it (RFC 4648 §4). A file that
 * begins otherwise is one secret: its bytes as they stand without one final line break. Never a guess: 64 hex digits are
 * valid base64 too. The `secrets` are up to 5, in the order of the file; the rest is as of a keys file.
 *
 * @throws {NotUsable} when one secret will not do. The message has nothing of the content.
 */
export async function readSecretFile(path: string) {
  const { bytes, readableByOthers } = await readSmallFile(path);
  const secrets = parseSecrets(bytes);
  if (secrets.length > MAX_TRIES) {
    throw new NotUsable(`it must hold at most ${MAX_TRIES} secrets, received ${secrets.length}`);
  }
  for (const [index, secret] of secrets.entries()) {
    const fault = secret === undefined ? NOT_BASE64 : secretFault(secret);
    const which = secrets.length === 1 ? 'it' : `secret ${index + 1}`;
    if (fault !== undefined) throw new NotUsable(`${which} ${fault}`);
  }
  const sound = secrets.filter((secret) => secret !== undefined);
  const keys = inOrder(sound.map((secret) => fromSecret(secret)));
  if (keys.length < sound.length) throw new NotUsable('it must not hold the same secret twice');
  const lengths = sound.map((secret) => secret.length).join(', ');
  const contents = `HMAC secret${sound.length === 1 ? '' : 's'} of ${lengths} bytes from TODO_AUTH_SECRET_FILE`;
  return { keys, skipped: [], contents, readableByOthers, secrets: sound };
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
