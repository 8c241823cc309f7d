import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { project } from '../npm.ts';
import { run } from '../program.ts';

const place = { cwd: '/', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8' } };

/** Words of `tar` that take files out as they were put in. */
export const EXTRACT = ['--extract', '--same-permissions', '--same-owner'];

/** Runs a command as root, and gives what it wrote. It must succeed. */
export async function must(file: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(file, args, place);
  assert.equal(code, 0, `${file} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout + stderr;
}

/**
 * Lays out a small system of this machine's distribution in `root`, with what the package depends on. It is fetched
 * once and kept in `build`.
 */
export async function layOutSystem(root: string): Promise<void> {
  const codename = /^VERSION_CODENAME=(\w+)$/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1] ?? '';
  const cache = join(project, 'build', `debootstrap-${codename}.tar`);
  if (!existsSync(cache)) await fetchSystem(codename, cache);
  await mkdir(root);
  await must('tar', ...EXTRACT, '--numeric-owner', '--file', cache, '--directory', root);
}

async function fetchSystem(codename: string, cache: string): Promise<void> {
  // From where this machine has its own packages.
  const targets = await must('apt-get', 'indextargets', '--format', '$(CODENAME) $(SITE)');
  const site = targets.split('\n').find((line) => line.startsWith(`${codename} http`));
  const mirror = site === undefined ? [] : site.split(' ').slice(1);
  const folder = await mkdtemp(join(project, 'build', 'debootstrap-'));
  try {
    const words = ['--variant=minbase', '--include=adduser,libatomic1', codename, `${folder}/root`];
    await must('debootstrap', ...words, ...mirror);
    await must('tar', '--create', '--file', `${folder}/tar`, '--directory', `${folder}/root`, '.');
    await rename(`${folder}/tar`, cache);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
