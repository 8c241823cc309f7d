import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { project } from '../npm.ts';
import { run } from '../program.ts';

/** The way to a mirror. */
const { http_proxy, https_proxy, no_proxy } = process.env;
const place = {
  cwd: '/',
  env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', http_proxy, https_proxy, no_proxy },
};

/** Words of `tar` that take files out as they were put in. */
const EXTRACT = ['--extract', '--same-permissions', '--same-owner'];

/** Runs a command as root, and gives what it wrote. It must succeed. */
export async function must(file: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(file, args, place);
  assert.equal(code, 0, `${file} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout + stderr;
}

/** Lays out a small system of this machine's distribution in `root`, with what the package depends on. */
export async function layOutSystem(root: string): Promise<void> {
  const archive = await fetchSystem();
  await mkdir(root);
  await must('tar', ...EXTRACT, '--numeric-owner', '--file', archive, '--directory', root);
}

/** The archive of that system, which is fetched once and kept in `build`. Rejects where there is no mirror. */
export async function fetchSystem(): Promise<string> {
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1] ?? '';
  const archive = join(project, 'build', `debootstrap-${codename}.tar`);
  if (!existsSync(archive)) await fetchInto(archive, codename);
  return archive;
}

async function fetchInto(archive: string, codename: string): Promise<void> {
  // From where this machine has its own packages.
  const targets = await must('apt-get', 'indextargets', '--format', '$(CODENAME) $(SITE)');
  const site = targets.split('\n').find((line) => line.startsWith(`${codename} http`));
  const mirror = site === undefined ? [] : site.split(' ').slice(1);
  const folder = await mkdtemp(join(project, 'build', 'debootstrap-'));
  try {
    const words = ['--variant=minbase', '--include=adduser,libatomic1', codename, `${folder}/root`];
    await must('debootstrap', ...words, ...mirror);
    await must('tar', '--create', '--file', `${folder}/tar`, '--directory', `${folder}/root`, '.');
    await rename(`${folder}/tar`, archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What an engine makes of the image: https://github.com/opencontainers/image-spec/blob/main/config.md */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
  readonly Volumes: Readonly<Record<string, object>>;
  readonly ExposedPorts: Readonly<Record<string, object>>;
}

interface Descriptor {
  readonly digest: string;
}

/** Unpacks the layers of an OCI archive into `root`, as an engine does, and gives the configuration. */
export async function unpackImage(archive: string, folder: string, root: string): Promise<ImageConfig> {
  const layout = join(folder, 'layout');
  await untar(archive, layout);
  const blob = ({ digest }: Descriptor) => join(layout, 'blobs', ...digest.split(':'));
  const parse = async (file: string) => JSON.parse(await readFile(file, 'utf8'));
  const { manifests }: { manifests: Descriptor[] } = await parse(join(layout, 'index.json'));
  const [first] = manifests;
  assert.ok(first);
  let image = await parse(blob(first));
  // Some engines keep an image behind a list of one.
  while ('manifests' in image) image = await parse(blob(image.manifests[0]));
  const { config, layers }: { config: Descriptor; layers: Descriptor[] } = image;
  for (const layer of layers) await untar(blob(layer), root);
  return (await parse(blob(config))).config;
}

async function untar(archive: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await must('tar', ...EXTRACT, '--file', archive, '--directory', folder);
}
