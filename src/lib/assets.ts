import { readdirSync, readFileSync } from 'node:fs';
import { getAsset, getAssetKeys, isSea } from 'node:sea';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Protocol of the assets in the single executable. Assets are files that this program brings along and does not import:
 * entries of threads, migrations. A module names one as `new URL('…', import.meta.url)`: a file beside the module. The
 * build of the executable finds these expressions and gives them an address of this protocol.
 */
const IN_EXECUTABLE = 'sea:';

export function readAsset(url: URL): string {
  return url.protocol === IN_EXECUTABLE ? getAsset(keyOf(url), 'utf8') : readFileSync(url, 'utf8');
}

/** The names of the files in a folder, whose URL ends with a slash, in the order of the alphabet. */
export function listAssets(folder: URL): readonly string[] {
  if (folder.protocol !== IN_EXECUTABLE) return readdirSync(folder).sort();
  const key = keyOf(folder);
  const inside = getAssetKeys().filter((name) => name.startsWith(key));
  return inside.map((name) => name.slice(key.length)).sort();
}

/** Whether the build of the executable has added an asset of this name, which is no file of the source. */
export function isCarried(name: string): boolean {
  return isSea() && getAssetKeys().includes(name);
}

export function readCarried(name: string): Buffer {
  return Buffer.from(getAsset(name));
}

/** Starts a thread. @param entry As the source names it; `tsc` rewrites the extension of an import, but not of a URL. */
export function startThread(entry: URL, options: WorkerOptions): Worker {
  if (entry.protocol === IN_EXECUTABLE) return new Worker(readAsset(entry), { ...options, eval: true });
  return new Worker(new URL(entry.href.replace(/\.ts$/, import.meta.url.slice(-3))), options);
}

function keyOf(url: URL): string {
  return url.pathname.slice(1);
}

/** The version of this package. Its `package.json` stands one folder above this file, in the source and as published. */
export function readVersion(): string {
  return JSON.parse(readAsset(new URL('../../package.json', import.meta.url))).version;
}

/** The commit of which a build was made, with `-dirty` behind it when files were changed. A checkout has none. */
export function readCommit(): string | undefined {
  return JSON.parse(readAsset(new URL('../built.json', import.meta.url))).commit ?? undefined;
}
