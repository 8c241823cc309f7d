import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { errorCode, NotUsable } from './errors.ts';

/** The beginning of text as Windows PowerShell writes it: a byte order mark, or a character of ASCII in two bytes. */
const UTF_16 = /^(?:\xff\xfe|\xfe\xff|\0[ -~]|[ -~]\0)/;

/** Reads a file whole; a huge one does no harm. `readableByOthers`: every user may read it. @throws {NotUsable} */
export async function readSmallFile(path: string, maxKiB = 64) {
  try {
    // A read of a pipe would wait, also of a pipe that takes the place of the file just now.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new NotUsable('it is not a regular file');
      const readableByOthers = (stats.mode & 0o004) !== 0;
      // `end` is the last byte that is read: one more than a file may have.
      const bytes = await buffer(file.createReadStream({ end: maxKiB * 1024, autoClose: false }));
      if (bytes.length > maxKiB * 1024) throw new NotUsable(`it is larger than ${maxKiB} KiB`);
      if (UTF_16.test(bytes.toString('latin1', 0, 2)))
        throw new NotUsable('it is in UTF-16: write it in UTF-8');
      return { bytes, readableByOthers };
    } finally {
      // Not `await using`: the files of Yarn's Plug'n'Play cannot be disposed of.
      await file.close();
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    throw code === 'ENOENT' ? new NotUsable('there is no such file', true) : new NotUsable(code);
  }
}

/** A text that changes when a file is written, replaced, made or removed. */
export async function fingerprintOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return code;
  }
}
