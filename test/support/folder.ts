import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

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

/** Lets a server listen on any port of 127.0.0.1, which is the result. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** So many ports belong to a process of the tests that listens on the one before them. */
const SHARE = 15;
const ports: number[] = [];
let sharesTried = process.pid;

/**
 * A port of 127.0.0.1 of this test's own: below those that systems give out by themselves. No other process of the tests
 * gets it before this one has ended, also while nobody listens there.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = ports.shift();
    if (port === undefined) {
      await takeShare();
      continue;
    }
    const server = await listenOn(port);
    if (server === undefined) continue;
    await once(server.close(), 'close');
    return port;
  }
}

async function takeShare(): Promise<void> {
  const first = 20_000 + ((sharesTried * (1 + SHARE)) % 12_000);
  sharesTried += 1;
  const taken = (await listenOn(first))?.unref();
  if (taken !== undefined) ports.push(...Array.from({ length: SHARE }, (_, index) => first + 1 + index));
}

/** Undefined where somebody else listens. */
async function listenOn(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  return once(server, 'listening').then(
    () => server,
    () => undefined,
  );
}

/** Why a test that mounts a disk is left out, or false. Root of a container may not mount. */
export function noMounts(): string | false {
  const mount = ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()];
  const mounts = process.platform === 'linux' && spawnSync('unshare', mount).status === 0;
  return mounts ? false : 'needs root on Linux that may mount a tmpfs';
}

/** Why a test that runs a program as another user is left out, or false. Only root can. */
export function closedToOthers(): string | false {
  if (process.getuid?.() !== 0) return false;
  const look = spawnSync('test', ['-r', fileURLToPath(import.meta.url)], { uid: 65_534, gid: 65_534 });
  return look.status !== 0 && 'needs a checkout that other users may read: not one below the home of root';
}

/** Does what root may do and somebody else may not, as nobody if this is root. */
export async function asNobody(work: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

/** Makes a folder and mounts a disk of this size there, `512k` for one, until it is disposed of. */
export function mountDisk(path: string, size: string): Disposable {
  mkdirSync(path);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]);
  return { [Symbol.dispose]: () => void execFileSync('umount', [path]) };
}

/** Mounts a file over another, or a folder, until it is disposed of. */
export function bindMount(from: string, to: string): Disposable {
  execFileSync('mount', ['--bind', from, to]);
  return { [Symbol.dispose]: () => void execFileSync('umount', [to]) };
}
