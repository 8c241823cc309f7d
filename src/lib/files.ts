import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';

/** A file, or a document of an issuer, cannot be used. The message is for people, without any of the content. */
export class NotUsable extends Error {
  override readonly name = 'NotUsable';
  /** There is no such file or document. */
  readonly isMissing: boolean;

  constructor(message: string, isMissing = false) {
    super(message);
    this.isMissing = isMissing;
  }
}

/** For a `catch`. Any other error is thrown again. */
export function asNotUsable(error: unknown): NotUsable {
  if (error instanceof NotUsable) return error;
  throw error;
}

/** Bytes. Keys, secrets and passwords are far smaller. */
const MAX_FILE_LENGTH = 64 * 1024;

/**
 * Reads a file of at most 64 KiB whole, so that a wrong path to something huge does no harm. `readableByOthers`: its mode
 * lets every user of the machine read it.
 *
 * @throws {NotUsable} when it is larger, is no regular file, or cannot be read.
 */
export async function readSmallFile(path: string) {
  try {
    // A pipe would be waited for, also one that takes the place of a file just now.
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) throw new NotUsable('it is not a regular file');
    const readableByOthers = (stats.mode & 0o004) !== 0;
    // `end` is the last byte that is read: one more than a file may have.
    const bytes = await buffer(file.createReadStream({ end: MAX_FILE_LENGTH, autoClose: false }));
    if (bytes.length > MAX_FILE_LENGTH) throw new NotUsable('it is larger than 64 KiB');
    return { bytes, readableByOthers };
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    throw code === 'ENOENT' ? new NotUsable('there is no such file', true) : new NotUsable(code);
  }
}

/** Differs when a file was written, replaced, or has come or gone. */
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

/**
 * What an error says, for people. A name with several addresses fails once for each.
 *
 * @param authorities What names the authority of a certificate that nobody trusts.
 */
export function messageOf(error: unknown, authorities = 'NODE_EXTRA_CA_CERTS'): string {
  if (error instanceof AggregateError)
    return error.errors.map((each) => messageOf(each, authorities)).join(', ');
  if (!(error instanceof Error)) return String(error);
  // What Node.js proposes of a certificate that nobody trusts asks for a flag of a program that may have none.
  const [said = '', proposal] = error.message.split('; if the root CA ');
  return proposal === undefined ? said : `${said}: name its CA in ${authorities}`;
}

/** `EACCES` and the like, or undefined for an error that does not come from the operating system. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Makes an empty file (0600) that did not exist, and keeps its name through a power cut. Throws when it exists.
 *
 * @param owner Whose file it is when root makes it; root's by default.
 */
export function newPrivateFile(path: string, owner?: { readonly uid: number; readonly gid: number }): void {
  const descriptor = openSync(path, 'wx', 0o600);
  try {
    if (owner !== undefined && process.geteuid?.() === 0) fchownSync(descriptor, owner.uid, owner.gid);
  } finally {
    closeSync(descriptor);
  }
  keepNames(dirname(path));
}

/** Keeps the names in a folder, as they are now, through a power cut. */
export function keepNames(folder: string): void {
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** A name that no other run has, for a file while it is made: one that was cut off is never taken for a whole one. */
export function partialOf(file: string): string {
  return `${resolve(file)}.${randomBytes(6).toString('hex')}.partial`;
}

/** What other runs have of the same file that is not finished, and milliseconds since each was written. */
export function unfinishedOf(file: string): readonly { readonly path: string; readonly ageMs: number }[] {
  const folder = dirname(resolve(file));
  const begin = `${basename(file)}.`;
  return namesIn(folder).flatMap((name) => {
    if (!name.startsWith(begin) || !/^\w+\.partial$/.test(name.slice(begin.length))) return [];
    const stats = statSync(join(folder, name), { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ path: join(folder, name), ageMs: Date.now() - stats.mtimeMs }];
  });
}

/** None of a folder that cannot be listed. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Gives a file that is complete and on disk its name. Throws when there is something of this name, and replaces nothing. */
export function nameComplete(partial: string, file: string): void {
  // A rename alone would replace what has got this name meanwhile.
  closeSync(openSync(file, 'wx', 0o600));
  try {
    renameSync(partial, file);
    keepNames(dirname(file));
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

/**
 * Makes a folder (0700) and those that it is in, where they are missing, and keeps their names through a power cut. Throws
 * what `mkdir` does.
 *
 * `recursive` never ends below a folder that is there and takes none, such as `/proc`.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
    keepNames(dirname(path));
  } catch (error) {
    // Somebody else may have been faster.
    if (!existsSync(path)) throw error;
  }
}
