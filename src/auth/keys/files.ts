import type { LogEvent } from '../../events.ts';
import { asNotUsable, NotUsable } from '../../lib/errors.ts';
import { parseJson } from '../../lib/parse-json.ts';
import { fingerprintOf, readSmallFile } from '../../lib/small-file.ts';
import { isDevelopmentSecret } from '../development.ts';
import {
  currentKeys,
  describeSkipped,
  inOrder,
  type Keys,
  type LoadedKeys,
  MAX_SET_KIB,
  MAX_TRIES,
  readKeySet,
} from './keys.ts';
import { isKey, readPem } from './pem.ts';
import { fromSecret, MIN_SECRET_LENGTH } from './verification-key.ts';

/** A file that is read again when it changes. */
export interface FileSource {
  readonly kind: 'secret-file' | 'keys-file';
  readonly path: string;
}

/** The keys of the file. The secrets themselves are not kept. @throws {NotUsable} when it has no usable key. */
export async function readFileSource({ kind, path }: FileSource) {
  if (kind === 'keys-file') return readKeysFile(path);
  const { secrets: _, ...loaded } = await readSecretFile(path);
  return loaded;
}

/** Milliseconds. A key or a secret that was taken out is trusted for less than a second. */
const INTERVAL_MS = 500;

/**
 * The keys or the secrets of a file, reread when it changes, and replaced only as a whole. The file is polled: the file
 * system reports nothing of files that are replaced by renaming, or through the links of a mounted volume.
 *
 * @throws {NotUsable} when a file that `readAuth` has found sound is so no longer; later faults leave the known keys in
 * force.
 */
export async function openWatchedKeys(source: FileSource, logEvent: LogEvent): Promise<Keys> {
  const { kind, path } = source;
  const { update, ...known } = currentKeys(`the file ${path}`, logEvent);
  let seen = await fingerprintOf(path);
  let loaded = await readFileSource(source).catch((error) => {
    const what = kind === 'keys-file' ? 'keys' : 'secret';
    throw new NotUsable(`The ${what} file "${path}" has changed: ${asNotUsable(error).message}`);
  });
  if (loaded.readableByOthers) logEvent({ event: 'secret-file-readable', path });
  update(loaded);
  let running: Promise<void> | undefined;

  async function reread(): Promise<void> {
    const now = await fingerprintOf(path);
    if (now === seen) return;
    const read = await readFileSource(source).catch(asNotUsable);
    // The file was written or replaced meanwhile: the read may have half of it, and the next poll reads it again.
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
    ...known,
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
 * `readableByOthers`: every user of the machine may read a file that should be private.
 *
 * @throws {NotUsable} also for secret material anywhere in it: the file is the wrong one. The message has none of the
 * file's content but `kid`s.
 */
export async function readKeysFile(path: string) {
  const { bytes } = await readSmallFile(path, MAX_SET_KIB);
  const text = bytes.toString('utf8').trim();
  const set = text.startsWith('{') ? readJson(text) : readPem(text, bytes);
  if (set.fault !== undefined) throw new NotUsable(set.fault);
  const { length } = set.keys;
  const contents = `${length} public key${length === 1 ? '' : 's'} from TODO_AUTH_KEYS_FILE`;
  return { ...set, contents, readableByOthers: false };
}

function readJson(text: string): LoadedKeys {
  const parsed = parseJson(text);
  if ('fault' in parsed) throw new NotUsable('it is not valid JSON');
  const set = readKeySet(parsed.value);
  const secrets = set.skipped.filter(({ kind }) => kind === 'secret');
  if (secrets.length > 0) throw new NotUsable(describeSkipped(secrets));
  return set;
}

/**
 * HMAC secrets: each is a line that begins with `base64:` (RFC 4648 §4) or `text:`; empty lines are ignored. The form is
 * never guessed: 64 hex digits are valid base64 too. The `secrets` are up to 5, in the order of the file; the rest is as
 * of a keys file.
 *
 * @throws {NotUsable} when one line is unusable. The message has nothing of the content.
 */
export async function readSecretFile(path: string) {
  const { bytes, readableByOthers } = await readSmallFile(path);
  // A character for every byte.
  const lines = bytes.toString('latin1').split(/\r?\n/);
  const secrets = lines.flatMap((line, index) => (line === '' ? [] : [readSecret(line, index + 1)]));
  if (secrets.length === 0) throw new NotUsable(`it must hold a line that ${SECRET_LINE}`);
  if (secrets.length > MAX_TRIES) {
    throw new NotUsable(`it must hold at most ${MAX_TRIES} secrets, received ${secrets.length}`);
  }
  const keys = inOrder(secrets.map((secret) => fromSecret(secret)));
  if (keys.length < secrets.length) throw new NotUsable('it must not hold the same secret twice');
  const lengths = secrets.map((secret) => secret.length).join(', ');
  const contents = `HMAC secret${secrets.length === 1 ? '' : 's'} of ${lengths} bytes from TODO_AUTH_SECRET_FILE`;
  return { keys, skipped: [], contents, readableByOthers, secrets };
}

const SECRET_LINE = 'begins with "base64:" or "text:"';

function readSecret(line: string, number: number): Buffer {
  const [, form, value = ''] = /^(base64|text):(.*)$/s.exec(line) ?? [];
  if (form === undefined) throw new NotUsable(`line ${number} must be a secret, which ${SECRET_LINE}`);
  const secret = Buffer.from(value, form === 'base64' ? 'base64' : 'latin1');
  const isWhole = form === 'text' || secret.toString('base64') === value;
  const fault = isWhole ? secretFault(secret) : 'must be base64 with its padding behind "base64:"';
  if (fault !== undefined) throw new NotUsable(`line ${number} ${fault}`);
  return secret;
}

/** The reason why a secret must not be trusted, for people, without any of it. */
function secretFault(secret: Buffer): string | undefined {
  if (isDevelopmentSecret(secret)) return 'must not be a development key';
  // With a public key, anybody could sign (RFC 8725 §2.1).
  if (isKey(secret) || isKey(Buffer.from(secret.toString('latin1'), 'base64'))) {
    return 'must be an HMAC secret, received a key or a certificate: a public key belongs into TODO_AUTH_KEYS_FILE';
  }
  if (secret.length < MIN_SECRET_LENGTH) {
    return `must have at least ${MIN_SECRET_LENGTH} bytes (RFC 7518 §3.2), received ${secret.length} bytes`;
  }
  if (secret.every((byte) => byte === secret[0])) {
    return `must be random bytes, received ${secret.length} times the same byte`;
  }
  return undefined;
}
