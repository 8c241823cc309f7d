import { hash, randomBytes } from 'node:crypto';
import { link, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { keepNames, makeFolder } from '../lib/durable-files.ts';
import { asNotUsable, errorCode, NotUsable } from '../lib/errors.ts';
import { parseJson } from '../lib/parse-json.ts';
import { readSmallFile } from '../lib/small-file.ts';
import type { ClaimPath } from './token/identity.ts';
import type { TokenType } from './token-type.ts';

/** The signer of tokens, HS256, and their issuer and audience. */
export interface Signer {
  readonly issuer: string;
  readonly audience: string;
  /** The claim that holds the audience; undefined: `aud`. */
  readonly audienceClaim?: ClaimPath | undefined;
  /** The `typ` of the header; undefined: `JWT`. */
  readonly tokenType?: TokenType | undefined;
  readonly secret: Buffer;
  /** The `kid` of the tokens; undefined: none. */
  readonly keyId?: string;
}

type DevelopmentSigner = Signer & { readonly keyId: string };

/** Issuer and audience of development tokens; no provider can claim this name. */
export const DEVELOPMENT_ISSUER = 'urn:todo-service:development';
export const DEVELOPMENT_AUDIENCE = 'todo-service';

/** The beginning of every development key's `kid`, by which production recognizes such a key. */
export const DEVELOPMENT_KEY_ID_PREFIX = 'development-';

/** The beginning of every development secret. Of 24 bytes, so that the base64 of a secret begins with theirs too. */
const SECRET_MARKER = Buffer.from('todo-service development');

/** Bytes. RFC 7518 §3.2 for HS256. */
const RANDOM_LENGTH = 32;

export function developmentKeyPath(dataDir: string): string {
  return join(dataDir, 'development-key.json');
}

export function isDevelopmentSecret(secret: Buffer): boolean {
  return secret.includes(SECRET_MARKER) || secret.includes(SECRET_MARKER.toString('base64'));
}

/** The key that a file holds; undefined when there is none. @throws {NotUsable} when it holds no key, in a sentence. */
export async function readDevelopmentKey(path: string): Promise<DevelopmentSigner | undefined> {
  const file = await readSmallFile(path).catch(asNotUsable);
  if (file instanceof NotUsable) {
    if (file.isMissing) return undefined;
    throw damaged(path, file.message);
  }
  const parsed = parseJson(file.bytes.toString('utf8'));
  const key = 'value' in parsed ? parseDevelopmentKey(parsed.value) : undefined;
  if (key === undefined) throw damaged(path, 'it is not a key that this program has made');
  return key;
}

/**
 * The key of this data directory. The first of several processes makes it: a finished file is linked under the final
 * name, which fails when one is there, and every process uses the one that is there. A damaged file stays as it is:
 * replacing it would end every token without a message.
 *
 * @throws {NotUsable} when it is damaged or cannot be made, with a whole sentence.
 */
export async function openDevelopmentKey(path: string): Promise<DevelopmentSigner> {
  const existing = await readDevelopmentKey(path);
  if (existing !== undefined) return existing;
  try {
    await makeDevelopmentKey(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    throw unmade(path, code);
  }
  const made = await readDevelopmentKey(path);
  if (made === undefined) throw unmade(path, 'it vanished again');
  return made;
}

function damaged(path: string, reason: string): NotUsable {
  return new NotUsable(
    `The development key "${path}" cannot be used: ${reason}. Restore the file, or delete it: ` +
      'the next start then makes a new key, and tokens of the old one are refused',
  );
}

function unmade(path: string, reason: string): NotUsable {
  return new NotUsable(`The development key "${path}" cannot be made: ${reason}`);
}

async function makeDevelopmentKey(path: string): Promise<void> {
  makeFolder(dirname(path));
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    const text = `${JSON.stringify(newDevelopmentKey(), null, 2)}\n`;
    await writeFile(draft, text, { flag: 'wx', mode: 0o600, flush: true });
    await link(draft, path).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    keepNames(dirname(path));
  } finally {
    await rm(draft, { force: true });
  }
}

function newDevelopmentKey() {
  const random = randomBytes(RANDOM_LENGTH);
  const fingerprint = hash('sha256', random, 'hex').slice(0, 16);
  return {
    kty: 'oct',
    kid: `${DEVELOPMENT_KEY_ID_PREFIX}${fingerprint}`,
    use: 'sig',
    alg: 'HS256',
    k: Buffer.concat([SECRET_MARKER, random]).toString('base64url'),
  };
}

function parseDevelopmentKey(value: unknown): DevelopmentSigner | undefined {
  const { kty, kid: keyId, k }: Readonly<Record<string, unknown>> = Object(value);
  if (typeof keyId !== 'string' || !keyId.startsWith(DEVELOPMENT_KEY_ID_PREFIX)) return undefined;
  if (kty !== 'oct' || typeof k !== 'string') return undefined;
  const secret = Buffer.from(k, 'base64url');
  const whole = secret.length === SECRET_MARKER.length + RANDOM_LENGTH && isDevelopmentSecret(secret);
  return whole ? { issuer: DEVELOPMENT_ISSUER, audience: DEVELOPMENT_AUDIENCE, keyId, secret } : undefined;
}
