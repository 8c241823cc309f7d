import { closeSync, openSync, readFileSync, realpathSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode, orUndefined } from '../../lib/errors.ts';

/**
 * File systems on which the lock of one process may not bind another, by Linux's numbers in `f_type`
 * (https://man7.org/linux/man-pages/man2/statfs.2.html). Virtiofs is FUSE to the kernel.
 */
export const UNCERTAIN: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'SMB'],
  [0x65735546, 'FUSE or virtiofs'],
  [0x01021997, '9p'],
]);

/**
 * The name of such a file system of a file or of its folder, where SQLite keeps its log: either may be mounted alone
 * (contract D21). Undefined too on systems other than Linux, where the numbers mean something else.
 */
export function uncertainLocksOf(path: string, platform = process.platform): string | undefined {
  if (platform !== 'linux') return undefined;
  const nameOf = (each: string) => UNCERTAIN.get(statfsSync(each).type);
  return orUndefined(() => nameOf(path) ?? nameOf(dirname(path)));
}

/** Linux's flag of a descriptor that cannot read. Unlike others, it drops no lock of this process when it is closed. */
const O_PATH = 0o10000000;

/**
 * Whether a file is itself a mount point: its log is then in the folder that mounts it, another one for each mount
 * (contract D6). False where there is no such file, and where the system does not say.
 */
export function isMountedAlone(file: string, platform = process.platform): boolean {
  if (platform !== 'linux') return false;
  try {
    const path = realpathSync(file);
    return mountOf(path) !== mountOf(dirname(path));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return false;
  }
}

/** The mount of a path (https://man7.org/linux/man-pages/man5/proc_pid_fdinfo.5.html); undefined without `/proc`. */
function mountOf(path: string): string | undefined {
  const descriptor = openSync(path, O_PATH);
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
    return /^mnt_id:\s*(\d+)$/m.exec(info)?.[1];
  } catch {
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}
