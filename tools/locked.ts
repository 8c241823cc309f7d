import { readFileSync, writeFileSync } from 'node:fs';

/** What npm writes of a package: https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json */
export interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly workspaces?: readonly string[];
  readonly dev?: boolean;
}

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

const lock: Lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));

/** What a package that has this one needs, by default as a dependency or as an optional one. */
type Needs = (root: Locked) => Readonly<Record<string, string>>;

/** The part of the lock file that a user needs: no tool of a developer, no workspace. */
export function lockedFor(needs: Needs = ({ dependencies = {} }) => dependencies): Lock {
  const { packages } = lock;
  const { workspaces: _, devDependencies: __, ...root } = packages[''] ?? {};
  const needed = new Set(Object.keys(needs(root)).map((name) => placeOf(name, '')));
  // A Set that grows while it is walked.
  for (const folder of needed) {
    const { dependencies, optionalDependencies } = packages[folder] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      needed.add(placeOf(name, folder));
    }
  }
  const kept = [...needed].sort().map((folder) => {
    const { dev: ___, ...locked } = packages[folder] ?? {};
    return [folder, locked] as const;
  });
  return { ...lock, packages: { '': { ...root, dependencies: needs(root) }, ...Object.fromEntries(kept) } };
}

/** Where Node.js finds a package that a module in `folder` imports. */
function placeOf(name: string, folder: string): string {
  const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
  if (place in lock.packages) return place;
  if (folder === '') throw new Error(`package-lock.json has no ${name}: npm install`);
  return placeOf(name, folder.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, ''));
}

// `npm-shrinkwrap.json`, which the npm package carries: who installs it gets the versions that were tested, and not
// whatever fits.
if (import.meta.main) {
  const text = `${JSON.stringify(lockedFor(), null, 2)}\n`;
  writeFileSync(new URL('../npm-shrinkwrap.json', import.meta.url), text);
}
