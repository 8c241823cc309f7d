import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build, type Plugin, transform } from 'esbuild';

/** What goes into the executable. */
export interface Bundle {
  /** CommonJS. */
  readonly main: string;
  /** The text of each asset by its name, which is its path in the project. */
  readonly assets: Map<string, string>;
  /** The folders below `node_modules` of which something is inside. */
  readonly packages: readonly string[];
}

/** How a module names a thread, a folder or a file that it brings along. */
const NAMED = /new URL\('(\.{1,2}\/[^']+)',\s*import\.meta\.url\)/g;

/** What is loaded when it is needed: a local `require` would hide it from esbuild. */
const OWN_REQUIRE = 'const require = createRequire(import.meta.url);';

/** Not bundled: `pg` tries to load the first two and goes on without; the script of the reference page is carried. */
const EXTERNAL = ['pg-native', 'cloudflare:sockets', '@scalar/*'];

/**
 * Bundles the entry, and every thread that a module names.
 *
 * @throws Error when something would be missing in the executable: a file of the source that no module names,
 *   or a use of `import.meta` that has no meaning there.
 */
export async function bundle(root: string, entry: string): Promise<Bundle> {
  const assets = new Map<string, string>();
  const loaded = new Set<string>();
  const named = new Set<string>();

  async function compile(file: string): Promise<string> {
    const { outputFiles, metafile, warnings } = await build({
      absWorkingDir: root,
      entryPoints: [file],
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node26',
      external: EXTERNAL,
      write: false,
      metafile: true,
      logLevel: 'error',
      legalComments: 'none',
      plugins: [namingAssets(root, named)],
    });
    if (warnings.length > 0) throw new Error(`Cannot bundle ${file}: ${warnings.map(({ text }) => text)}`);
    for (const input of Object.keys(metafile.inputs)) loaded.add(input);
    const [{ text } = { text: '' }] = outputFiles;
    return text;
  }

  const main = await compile(entry);
  // A Set that grows while it is walked: a thread may name others.
  for (const name of named) {
    if (name.endsWith('.ts')) assets.set(name, await compile(name));
    else for (const file of filesOf(root, name)) assets.set(file, readFileSync(join(root, file), 'utf8'));
  }
  const forgotten = await forgottenOf(root, (file) => loaded.has(file) || assets.has(file));
  if (forgotten.length > 0)
    throw new Error(`No module imports or names ${forgotten}: the executable would lack it`);
  return { main, assets, packages: packagesOf(loaded) };
}

function filesOf(root: string, name: string): readonly string[] {
  return name.endsWith('/') ? globSync(`${name}*`, { cwd: root }).sort() : [name];
}

/** Files of the source that are code, and not the entry of another way to start, or that are no code at all. */
async function forgottenOf(root: string, isInside: (file: string) => boolean): Promise<readonly string[]> {
  const files = globSync('src/**/*', { cwd: root, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => relative(root, join(file.parentPath, file.name)))
    .filter((file) => file !== 'src/start.js' && !file.endsWith('.test.ts') && !isInside(file));
  const codes = await Promise.all(files.map((file) => codeOf(join(root, file))));
  return files.filter((_, index) => codes[index] !== '');
}

/** What is left of a module without its types and comments. */
async function codeOf(path: string): Promise<string> {
  if (!path.endsWith('.ts')) return 'no code';
  const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'ts', minifyWhitespace: true });
  return code.trim();
}

function packagesOf(loaded: Iterable<string>): readonly string[] {
  const folders = Array.from(loaded, (input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]);
  return [...new Set(folders)].filter((folder) => folder !== undefined).sort();
}

/** Gives each module of the source the address that `src/lib/assets.ts` knows, and keeps what it names. */
function namingAssets(root: string, named: Set<string>): Plugin {
  return {
    name: 'naming-assets',
    setup({ onLoad }) {
      onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
        const file = relative(root, path);
        if (file.startsWith('node_modules/')) return undefined;
        const source = readFileSync(path, 'utf8');
        for (const [, name = ''] of source.matchAll(NAMED)) named.add(join(dirname(file), name));
        const address = JSON.stringify(`sea:///${file.replace(/\.ts$/, '.js')}`);
        const contents = source.replace(OWN_REQUIRE, '').replaceAll('import.meta.url', address);
        if (/\bimport\.meta\b/.test(contents)) throw new Error(`${file} uses more than import.meta.url`);
        return { contents, loader: 'ts' };
      });
    },
  };
}
