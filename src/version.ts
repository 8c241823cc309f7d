import { readAsset } from './assets.ts';

/** The version of this package. Its `package.json` stands one folder above this file, in the source and as published. */
export function readVersion(): string {
  return JSON.parse(readAsset(new URL('../package.json', import.meta.url))).version;
}

/** The commit of which a build was made, with `-dirty` behind it when files were changed. A checkout has none. */
export function readCommit(): string | undefined {
  return JSON.parse(readAsset(new URL('./built.json', import.meta.url))).commit ?? undefined;
}
