import { globSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { outputOf } from '../command.ts';

/** A shared library, and the license of the package that it comes from. */
export interface Library {
  /** Where the loader of this machine finds it. */
  readonly path: string;
  readonly copyright: string;
}

/**
 * The libraries that an executable loads, the loader among them.
 *
 * @throws Error when one is missing, or belongs to no package of Debian or its kin.
 */
export function librariesOf(executable: string): readonly Library[] {
  const listed = outputOf('ldd', executable);
  if (listed === undefined || listed.includes('not found')) {
    throw new Error(`Cannot find the libraries of ${executable}:\n${listed ?? 'ldd failed'}`);
  }
  const paths = Array.from(listed.matchAll(/(\/\S+) \(0x/g), ([, path = '']) => path);
  return paths.sort().map((path) => ({ path, copyright: copyrightOf(path) }));
}

function copyrightOf(path: string): string {
  // The database of dpkg has the path from before /lib became a link to /usr/lib, or the one after.
  const real = realpathSync(path);
  const names = [path, real, real.replace(/^\/usr/, ''), `/usr${path}`];
  const owner = names.map((name) => outputOf('dpkg', '-S', name)).find((line) => line !== undefined);
  const [copyright] = globSync(`/usr/share/doc/${owner?.split(':')[0]}/copyright`);
  if (copyright === undefined) {
    throw new Error(`Cannot find the license of ${basename(path)}: the image is built on Debian or its kin`);
  }
  return copyright;
}
