import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Folder extends AsyncDisposable {
  readonly path: string;
  /** Writes a file into it and gives its path. */
  write(name: string, content: string | Uint8Array): Promise<string>;
}

/** A folder of this test's own, removed when the test ends. */
export async function temporaryFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'todo-test-'));
  return {
    path,
    async write(name, content) {
      const file = join(path, name);
      await writeFile(file, content, { mode: 0o600 });
      return file;
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** Why a test that mounts a disk is left out, or false. */
export const noMounts: string | false =
  process.platform === 'linux' && process.getuid?.() === 0 ? false : 'needs root on Linux: mounts a tmpfs';

/** Makes a folder and mounts a disk of this size there, `512k` for one, until it is disposed of. */
export function mountDisk(path: string, size: string): Disposable {
  mkdirSync(path);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]);
  return { [Symbol.dispose]: () => void execFileSync('umount', [path]) };
}
