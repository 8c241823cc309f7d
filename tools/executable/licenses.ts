import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Licenses under which a part may be passed on inside of something else, with its text. */
const ALLOWED = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];

/** What is wrong with the license of a package, for people, or undefined. */
export function licenseFault(name: string, license: string | undefined): string | undefined {
  if (license !== undefined && ALLOWED.includes(license)) return undefined;
  return `the license of ${name} must be one of ${ALLOWED.join(', ')}, received ${license ?? 'none'}`;
}

const NO_TEXT = 'The package names its license and brings no text of it.';

/**
 * The license of every package of which something is in the executable, as most of them ask for, and that of
 * Node.js with its parts.
 *
 * @throws Error when one may not be passed on.
 */
export function licensesOf(packages: readonly string[]): string {
  const node = dirname(dirname(process.execPath));
  return ['.', node, ...packages].map(licenseOf).join(`\n${'-'.repeat(80)}\n\n`);
}

function licenseOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const fault = licenseFault(name, license);
  if (fault !== undefined) throw new Error(fault);
  const [file] = globSync('{LICENSE,LICENCE,License,license}{,.md,.txt}', { cwd: folder }).sort();
  const text = file === undefined ? NO_TEXT : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
}
