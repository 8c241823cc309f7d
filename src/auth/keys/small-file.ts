import { open, stat } from 'node:fs/promises';
import { type Failed, failed } from './failed.ts';

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
    // A pipe would be waited for.
    if (!(await stat(path)).isFile()) return failed('it is not a regular file');
    await using file = await open(path, 'r');
    const readableByOthers = ((await file.stat()).mode & 0o004) !== 0;
    const buffer = Buffer.alloc(MAX_FILE_LENGTH + 1);
    let length = 0;
    while (length < buffer.length) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      if (bytesRead === 0) return { outcome: 'read', bytes: buffer.subarray(0, length), readableByOthers };
      length += bytesRead;
    }
    return failed('it is larger than 64 KiB');
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
