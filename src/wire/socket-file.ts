import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type BigIntStats, chmodSync, existsSync, linkSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { errorCode } from '../lib/errors.ts';
import { OperatorError } from '../lib/operator-error.ts';

export interface SocketFile {
  /** Absolute, at most `LONGEST_PATH`. */
  readonly path: string;
  /** For example 0o660. */
  readonly mode: number;
}

/** Bytes. The address of a Unix socket has 107 of them, 103 on macOS, and a temporary name has 7 more. */
export const LONGEST_PATH = 96;

/**
 * Makes the file of a socket: `listen` makes it under a temporary name, which it leaves once it has its mode. Replaces
 * the file of a socket on which nobody listens, and nothing else.
 *
 * @returns a function that removes the file unless it is another one by now, and never throws. To be called while the
 * socket still listens: nobody can take the file for a stale one then.
 * @throws {OperatorError} `unavailable` when another program listens there, `configuration` when it is no socket.
 */
export async function makeFile(
  { path, mode }: SocketFile,
  listen: (name: string) => Promise<void>,
): Promise<() => void> {
  await removeStale(path);
  const name = temporary(path);
  // Node.js removes this name when the server closes, whatever becomes of the file.
  await listen(name);
  chmodSync(name, mode);
  const own = lookAt(name);
  try {
    linkSync(name, path);
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? taken(path) : error;
  }
  rmSync(name);
  return () => {
    try {
      if (isSame(own, lookAt(path))) rmSync(path);
    } catch {
      // A file that stays is replaced by the next start.
    }
  };
}

/** The reason for an EACCES, which libuv also says of a folder that is missing. */
export function whyNoFile({ path }: SocketFile): string {
  const folder = JSON.stringify(dirname(path));
  if (!existsSync(dirname(path))) return `there is no folder ${folder}, or the process may not look into it`;
  return `the process has no right to make a file in ${folder}`;
}

/** Removes the file of a socket on which nobody listens. Another one that has come in its place is put back. */
async function removeStale(path: string): Promise<void> {
  const asked = lookAt(path);
  if (asked === undefined) return;
  if (!asked.isSocket())
    throw new OperatorError(
      'configuration',
      `cannot listen on ${path}: it is ${kindOf(asked)}, and stays as it is`,
    );
  const why = await whyTaken(path);
  if (why !== undefined) throw taken(path, why);
  const aside = temporary(path);
  try {
    renameSync(path, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  if (!isSame(asked, lookAt(aside))) {
    // A program that has started at the same time has won. Nothing that has come meanwhile is replaced.
    linkSync(aside, path);
    rmSync(aside);
    throw taken(path);
  }
  rmSync(aside);
}

/** Undefined where a socket has no listener. */
async function whyTaken(path: string): Promise<string | undefined> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return TAKEN;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return undefined;
    // The queue of its listener is full.
    if (code === 'EAGAIN') return TAKEN;
    return `the system does not say whether another program has it (${code})`;
  } finally {
    socket.destroy();
  }
}

const TAKEN = 'another program has it';

function taken(path: string, why = TAKEN): OperatorError {
  return new OperatorError('unavailable', `cannot listen on ${path}: ${why}: choose another path`);
}

function temporary(path: string): string {
  return `${path}.${randomBytes(3).toString('hex')}`;
}

function lookAt(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** A file system may give the number of a removed file to a new one, of a later time. */
function isSame(one: BigIntStats | undefined, other: BigIntStats | undefined): boolean {
  return one?.dev === other?.dev && one?.ino === other?.ino && one?.mtimeNs === other?.mtimeNs;
}

function kindOf(file: BigIntStats): string {
  if (file.isSymbolicLink()) return 'a symbolic link';
  if (file.isDirectory()) return 'a folder';
  return file.isFile() ? 'a regular file' : 'no socket';
}
