import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SOURCE = fileURLToPath(new URL('./disk.c', import.meta.url));

/**
 * Compiles the disk that can lose power, with the system's C compiler. Linux only.
 *
 * @param folder Where the library goes.
 * @returns the variables of a process that uses it.
 */
export async function compileDisk(folder: string): Promise<Record<string, string>> {
  const library = join(folder, 'disk.so');
  await promisify(execFile)('cc', ['-shared', '-fPIC', '-O2', '-Wall', '-o', library, SOURCE, '-ldl']);
  return { LD_PRELOAD: library };
}

/**
 * Makes the files of a database what a power cut leaves of them: what was synced for certain, and of what was
 * not, for each file, all or nothing.
 */
export async function cutPower(dataDir: string, kept: string, random: () => number): Promise<void> {
  await mkdir(kept, { recursive: true });
  const survivors = new Set(await readdir(kept));
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith('todos.db')) continue;
    if (survivors.has(name)) {
      if (random() < 0.7) await copyFile(join(kept, name), join(dataDir, name));
    } else await rm(join(dataDir, name));
  }
}
