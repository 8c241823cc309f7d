import { type Failed, failed } from './failed.ts';
import { readSmallFile } from './small-file.ts';

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
