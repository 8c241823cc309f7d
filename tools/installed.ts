/**
 * Ends a step that needs packages of developers with one line where they were left out (`NODE_ENV=production npm ci`).
 * It is preloaded: an import that is not found ends a program before its first line.
 */
import { findPackageJSON } from 'node:module';
import manifest from '../package.json' with { type: 'json' };
import { giveUp } from './command.ts';

const missing = Object.keys(manifest.devDependencies).filter((name) => !isInstalled(name));
if (missing.length > 0) {
  const [first, ...others] = missing;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  giveUp(
    `Cannot do this: ${first}${more} of the packages for developers are missing: run "npm ci --include=dev"`,
  );
}

function isInstalled(name: string): boolean {
  try {
    return findPackageJSON(name, import.meta.url) !== undefined;
  } catch {
    return false;
  }
}
