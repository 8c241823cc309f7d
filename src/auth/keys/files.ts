import { createPublicKey } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { parseJson } from '../../parse-json.ts';
import { describeSkipped, type Failed, failed, readKeySet } from './key-set.ts';
import type { LoadedKeys } from './keys.ts';
import { fromPublicKey } from './verification-key.ts';

/** Bytes. Keys and secrets are far smaller. */
const MAX_FILE_LENGTH = 64 * 1024;

export type SmallFile =
  | {
      readonly outcome: 'read';
      readonly bytes: Buffer;
      /** The file's mode lets every user of the machine read it. */
      readonly readableByOthers: boolean;
    }
  | { readonly outcome: 'missing'; readonly reason: string }
  | Failed;

/** Reads a file of at most 64 KiB whole, so that a wrong path to something huge does no harm. */
export async function readSmallFile(path: string): Promise<SmallFile> {
  try {
    // A pipe would be waited for, also one that takes the place of a file just now.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) return failed('it is not a regular file');
    const readableByOthers = (stats.mode & 0o004) !== 0;
    // `end` is the last byte that is read: one more than a file may have.
    const bytes = await buffer(file.createReadStream({ end: MAX_FILE_LENGTH, autoClose: false }));
    if (bytes.length > MAX_FILE_LENGTH) return failed('it is larger than 64 KiB');
    return { outcome: 'read', bytes, readableByOthers };
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return code === 'ENOENT' ? { outcome: 'missing', reason: 'there is no such file' } : failed(code);
  }
}

/** `EACCES` and the like, or undefined for an error that does not come from the operating system. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * A PEM public key, a JWK or a JWKS. Fails for secret material anywhere in it: the file is the wrong one. A reason has
 * none of the file's content but `kid`s.
 */
export async function readKeysFile(path: string): Promise<LoadedKeys> {
  const file = await readSmallFile(path);
  if (file.outcome !== 'read') return failed(file.reason);
  const text = file.bytes.toString('utf8').trim();
  return text.startsWith('{') ? readJson(text) : readPem(text);
}

function readJson(text: string): LoadedKeys {
  const parsed = parseJson(text);
  if ('fault' in parsed) return failed('it is not valid JSON');
  const set = readKeySet(parsed.value);
  const secrets = set.skipped.filter(({ outcome }) => outcome === 'secret');
  if (secrets.length > 0) return failed(secrets.map(describeSkipped).join('; '));
  if (set.outcome === 'read') return set;
  return failed([set.reason, ...set.skipped.map(describeSkipped)].join('; '));
}

function readPem(text: string): LoadedKeys {
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text)) return failed('it is a private key');
  if (/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/.test(text)) {
    return failed('it is a certificate (openssl x509 -pubkey -noout prints its public key)');
  }
  if (text.split('-----BEGIN ').length !== 2) return failed('it is not a PEM public key, a JWK or a JWKS');
  try {
    const result = fromPublicKey(createPublicKey(text));
    return result.outcome === 'usable'
      ? { outcome: 'read', keys: [result.key], skipped: [] }
      : failed(result.reason);
  } catch {
    return failed('it is not a PEM public key, a JWK or a JWKS');
  }
}

export interface SecretFile {
  readonly outcome: 'read';
  readonly secret: Buffer;
  readonly readableByOthers: boolean;
}

const PREFIX = 'base64:';

/**
 * An HMAC secret: the file's bytes as they stand without one final line break, or `base64:` and its base64
 * (RFC 4648 §4, line breaks allowed). Never a guess: 64 hex digits are valid base64 too.
 */
export async function readSecretFile(path: string): Promise<SecretFile | Failed> {
  const file = await readSmallFile(path);
  if (file.outcome !== 'read') return failed(file.reason);
  const { readableByOthers } = file;
  // A character for every byte.
  const text = file.bytes.toString('latin1').replace(/\r?\n$/, '');
  if (!text.startsWith(PREFIX)) {
    return { outcome: 'read', secret: Buffer.from(text, 'latin1'), readableByOthers };
  }
  const encoded = text.slice(PREFIX.length).replaceAll(/[\r\n]/g, '');
  const secret = Buffer.from(encoded, 'base64');
  if (secret.toString('base64') !== encoded) {
    return failed('what follows "base64:" must be base64 with its padding');
  }
  return { outcome: 'read', secret, readableByOthers };
}
