import { execFile, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
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

/** Runs a module on a disk, in a process of its own, and gives what it printed. @param variables Those of `compileDisk`, and of `disk.c`. */
export function runOnDisk(variables: Readonly<Record<string, string>>, module: string): string {
  const env = { ...process.env, ...variables };
  // Without a flag, which its threads would have too: Node.js sees by the imports that it is a module.
  return execFileSync(process.execPath, ['-e', module], { env, encoding: 'utf8' }).trim();
}

/** What is in a folder, by its paths below the folder; null for a folder. */
type Tree = Map<string, Buffer | null>;

/** Counts what is in a folder as on disk: the names of all folders, and the bytes of all files. */
export function settle(folder: string, kept: string): void {
  rmSync(kept, { recursive: true, force: true });
  mkdirSync(kept);
  const settleBelow = (path: string) => {
    const names = namesIn(path);
    const lines = [...names].map(([name, inode]) => `${inode} ${name}\n`);
    writeFileSync(join(kept, `names-${lstatSync(path).ino}`), lines.join(''));
    for (const [name, inode] of names) {
      const below = join(path, name);
      if (lstatSync(below).isDirectory()) settleBelow(below);
      else copyFileSync(below, join(kept, `bytes-${inode}`));
    }
  };
  settleBelow(folder);
}

/**
 * Makes of a folder what a power cut leaves of it. Of the names that were made, moved or removed after the last sync of
 * their folder any may be kept, and of the bytes of each file those of its last sync, or all.
 *
 * @param kept What `disk.c` has written since `settle`.
 * @param random From 0, where nothing is kept that was not synced, to below 1.
 * @param into Another folder, which gets what is left.
 */
export function cutPower(folder: string, kept: string, random: () => number, into = folder): void {
  const left: Tree = new Map();
  leaveBelow(folder, kept, random, lstatSync(folder).ino, '', left);
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into);
  for (const [path, bytes] of left) {
    if (bytes === null) mkdirSync(join(into, path));
    else writeFileSync(join(into, path), bytes, { mode: 0o600 });
  }
}

/** Adds what is left of a folder with this inode, of a path below the first one. */
function leaveBelow(
  folder: string,
  kept: string,
  random: () => number,
  inode: number,
  path: string,
  left: Tree,
): void {
  const before = new Map(
    read(join(kept, `names-${inode}`))
      ?.toString()
      .split('\n')
      .slice(0, -1)
      .map((line) => [line.slice(line.indexOf(' ') + 1), Number.parseInt(line, 10)]),
  );
  const after = namesIn(join(folder, path));
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const chosen = (before.get(name) === after.get(name) || random() < 0.5 ? before : after).get(name);
    if (chosen === undefined) continue;
    const below = join(path, name);
    const now = join(folder, below);
    if (lstatSync(now, { throwIfNoEntry: false })?.isDirectory()) {
      left.set(below, null);
      leaveBelow(folder, kept, random, chosen, below, left);
      continue;
    }
    const synced = read(join(kept, `bytes-${chosen}`)) ?? Buffer.alloc(0);
    const last = read(join(kept, `gone-${chosen}`)) ?? (after.get(name) === chosen ? read(now) : undefined);
    left.set(below, random() < 0.7 ? synced : (last ?? synced));
  }
}

function namesIn(folder: string): ReadonlyMap<string, number> {
  return new Map(readdirSync(folder).map((name) => [name, lstatSync(join(folder, name)).ino]));
}

function read(file: string): Buffer | undefined {
  return existsSync(file) ? readFileSync(file) : undefined;
}
