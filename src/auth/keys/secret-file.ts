import { type Failed, failed } from './failed.ts';
import { readSmallFile } from './small-file.ts';

export interface SecretFile {
  readonly outcome: 'read';
  readonly secret: Buffer;
  readonly readableByOthers: boolean;
}

const PREFIX = 'base64:';
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * An HMAC secret: the file's bytes as they stand without one final line break, or `base64:` and its base64
 * (RFC 4648 §4, line breaks allowed). Never a guess: 64 hex digits are valid base64 too.
 */
export async function readSecretFile(path: string): Promise<SecretFile | Failed> {
  const file = await readSmallFile(path);
  if (file.outcome !== 'read') return failed(file.reason);
  const { readableByOthers } = file;
  const bytes = withoutFinalLineBreak(file.bytes);
  if (!bytes.subarray(0, PREFIX.length).equals(Buffer.from(PREFIX)))
    return { outcome: 'read', secret: bytes, readableByOthers };
  const encoded = bytes
    .toString('latin1')
    .slice(PREFIX.length)
    .replaceAll(/[\r\n]/g, '');
  const secret = Buffer.from(encoded, 'base64');
  if (secret.toString('base64') !== encoded) {
    return failed('what follows "base64:" must be base64 with its padding');
  }
  return { outcome: 'read', secret, readableByOthers };
}

function withoutFinalLineBreak(bytes: Buffer): Buffer {
  if (bytes.at(-1) !== LINE_FEED) return bytes;
  return bytes.subarray(0, bytes.at(-2) === CARRIAGE_RETURN ? -2 : -1);
}
