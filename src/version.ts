import { readFileSync } from 'node:fs';

/** The version of this package. Its `package.json` stands one folder above this file, in the source and as published. */
export function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
