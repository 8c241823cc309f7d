import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder (0700) and those that it is in, where they are missing. Throws what `mkdir` does.
 *
 * `recursive` never ends below a folder that is there and takes none, such as `/proc`.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Somebody else may have been faster.
    if (!existsSync(path)) throw error;
  }
}
