/**
 * Makes the container image of `Containerfile` and keeps it as an archive, `build/todo-service-image.tar`, with the first
 * engine that works here: docker, podman, or buildah, which needs no daemon. Debian or its kin, and
 * `npm run executable` before it.
 */
import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { giveUp, outputOf, run } from '../command.ts';
import { commitOf, dateOf, sourceOf } from '../origin.ts';
import { stage } from './stage.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const build = join(root, 'build');
const context = join(build, 'image');
const archive = join(build, 'todo-service-image.tar');
/** In full: containerd imports an archive under the name that it has, and a kubelet looks for this one. */
const tag = `docker.io/library/todo-service:${manifest.version}`;

const ENGINES: readonly (readonly [probe: readonly [string, ...string[]], make: () => void])[] = [
  [['docker', 'info'], withDocker],
  [['podman', 'info'], withPodman],
  [['buildah', '--version'], withBuildah],
];

const [, make] = ENGINES.find(([probe]) => outputOf(...probe) !== undefined) ?? [];
if (make === undefined) {
  giveUp(
    'Cannot make the image: it needs a running docker, podman or buildah (on Debian: apt-get install buildah)',
  );
}
if (!existsSync(join(build, 'todo-service')))
  giveUp('Cannot make the image: there is no build/todo-service, which "npm run executable" makes');

rmSync(context, { recursive: true, force: true });
rmSync(archive, { force: true });
stage(build, join(context, 'root'));
mkdirSync(join(context, 'volume', 'data'), { recursive: true });
chmodSync(join(context, 'volume', 'data'), 0o770);

const date = dateOf(root);
const words = [
  ...['--file', join(root, 'Containerfile'), '--tag', tag],
  ...['--build-arg', `VERSION=${manifest.version}`],
  ...['--build-arg', `REVISION=${commitOf(root) ?? ''}`],
  ...['--build-arg', `SOURCE=${sourceOf(root)}`],
];

make();

function withDocker(): void {
  process.env.SOURCE_DATE_EPOCH = date;
  run('docker', 'build', ...words, context);
  run('docker', 'save', '--output', archive, tag);
}

function withPodman(): void {
  run('podman', 'build', '--timestamp', date, ...words, context);
  run('podman', 'save', '--format', 'oci-archive', '--output', archive, tag);
}

/** A store of its own, of the one kind that needs nothing of the kernel, leaves that of the machine alone. */
function withBuildah(): void {
  const store = join(build, 'image-store');
  const buildah = ['--storage-driver', 'vfs', '--root', join(store, 'root'), '--runroot', join(store, 'run')];
  try {
    run('buildah', ...buildah, 'build', '--isolation', 'chroot', '--timestamp', date, ...words, context);
    run('buildah', ...buildah, 'push', tag, `oci-archive:${archive}:${tag}`);
  } finally {
    rmSync(store, { recursive: true, force: true });
  }
}
