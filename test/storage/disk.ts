import { execFile, execFileSync } from 'node:child_process';
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SOURCE = fileURLToPath(new URL('./disk.c', import.meta.url));

/** Why no disk can be compiled here, for the `skip` of a test; false when one can. */
export function noDisk(): string | false {
  if (process.platform !== 'linux') return `LD_PRELOAD is for Linux, this is ${process.platform}`;
  try {
    execFileSync('cc', ['-fsyntax-only', '-w', SOURCE], { stdio: 'ignore' });
    return false;
  } catch {
    return '"cc -fsyntax-only test/storage/disk.c" fails: no C compiler, or not its headers';
  }
}

/**
 * Compiles the disk that can lose power, with the system's C compiler. Linux only.
 *
 * @param folder Where the library goes.
 * @returns the variables of a process that uses it.
 */
export async function compileDisk(folder: string): Promise<Record<string, string>> {
  const library = join(folder, 'disk.so');
  await promisify(execFile)('cc', ['-shared', '-fPIC', '-O2', '-Wall', '-o', library, SOURCE, '-ldl']);
  // By its name alone: a blank would separate two libraries.
  const { LD_LIBRARY_PATH: others } = process.env;
  return { LD_PRELOAD: 'disk.so', LD_LIBRARY_PATH: [folder, others].filter(Boolean).join(':') };
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
