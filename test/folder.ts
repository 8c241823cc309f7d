import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
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

let portsTried = 0;

/**
 * A port of 127.0.0.1 of this test's own: below those that systems give out by themselves, and another one in each process
 * of the tests. Nobody takes it before somebody listens, nor while nobody does for a moment.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + ((16 * process.pid + portsTried) % 12_000);
    portsTried += 1;
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    await once(server.close(), 'close');
    return port;
  }
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
