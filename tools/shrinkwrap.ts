/**
 * Makes `npm-shrinkwrap.json`, which the npm package carries: who installs it gets the versions that were tested, and not
 * whatever fits. It has what `package-lock.json` says of the packages that a user needs, and of no others.
 */
import { readFileSync, writeFileSync } from 'node:fs';

/** What npm writes of a package: https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json */
interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly workspaces?: readonly string[];
}

const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
  readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'),
);
const { packages } = lock;
const needed = new Set(['']);
// A Set that grows while it is walked.
for (const folder of needed) {
  const { dependencies, optionalDependencies } = packages[folder] ?? {};
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
    needed.add(placeOf(name, folder));
}

const { workspaces: _, devDependencies: __, ...root } = packages[''] ?? {};
const kept = [...needed].sort().map((folder) => [folder, folder === '' ? root : packages[folder]]);
const shrinkwrap = { ...lock, packages: Object.fromEntries(kept) };
writeFileSync(new URL('../npm-shrinkwrap.json', import.meta.url), `${JSON.stringify(shrinkwrap, null, 2)}\n`);

/** Where Node.js finds a package that a module in `folder` imports. */
function placeOf(name: string, folder: string): string {
  const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
  if (place in packages) return place;
  if (folder === '') throw new Error(`package-lock.json has no ${name}: npm install`);
  return placeOf(name, folder.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, ''));
}
