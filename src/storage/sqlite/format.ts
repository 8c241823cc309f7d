import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { orUndefined } from '../../lib/errors.ts';

/** The first bytes of every database, https://www.sqlite.org/fileformat.html#magic_header_string */
export const MAGIC = Buffer.from('SQLite format 3\0');

/** The highest version of a file, for writing and for reading, that SQLite knows; and that of its log. */
const VERSION = 2;
const LOG_VERSION = 3_007_000;

/** The versions of a file in the journal mode "mvcc" of Turso. */
const MVCC = 255;

/**
 * The format that SQLite does not take of a file that it could not open, for people; undefined where it takes it. No
 * connection of this process has the file open: closing a descriptor drops its locks.
 */
export function otherFormatOf(path: string): string | undefined {
  const header = firstBytes(path, 20);
  const log = firstBytes(`${path}-wal`, 8);
  if (header?.subarray(0, MAGIC.length).equals(MAGIC) !== true) return undefined;
  const version = Math.max(header.readUInt8(18), header.readUInt8(19));
  if (version === MVCC)
    return `it is in the journal mode "mvcc" of Turso: run "PRAGMA journal_mode = 'wal'" on it with Turso`;
  if (version > VERSION)
    return `it is of version ${version} of the format, and SQLite writes ${VERSION}: restore a backup, or convert it with the program that made it`;
  if (log === undefined || log.readUInt32BE(0) >>> 1 !== 0x377f0682 >>> 1) return undefined;
  const logVersion = log.readUInt32BE(4);
  if (logVersion === LOG_VERSION) return undefined;
  return (
    `"${basename(path)}-wal" is a log of version ${logVersion}, and SQLite reads ${LOG_VERSION}: close the database ` +
    'with the program that wrote the log, or restore a backup'
  );
}

/** Undefined where the file has fewer bytes, or cannot be read. */
function firstBytes(path: string, length: number): Buffer | undefined {
  return orUndefined(() => {
    const descriptor = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(length);
      return readSync(descriptor, bytes, 0, length, 0) === length ? bytes : undefined;
    } finally {
      closeSync(descriptor);
    }
  });
}
