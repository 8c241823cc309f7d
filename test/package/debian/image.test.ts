import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, chown, glob, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import manifest from '../../../package.json' with { type: 'json' };
import { signer } from '../../../packages/conformance/src/sign.ts';
import { shellWord } from '../../../src/lib/quote.ts';
import { commitOf } from '../../../tools/origin.ts';
import { PostgresServer } from '../../storage/postgres-server.ts';
import { project } from '../npm.ts';
import { run, serve } from '../program.ts';
import { create, read, servesAsInstalled, type Way } from '../ways.ts';
import { type ImageConfig, must, unpackImage } from './system.ts';

/**
 * What an engine does: own mounts, a system that is read-only except the volumes (`path:/where …`), process 1, a user who
 * is not root.
 */
const CONTAINER = `set -e; mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"
  for each in $2; do mount --bind "\${each%%:*}" "$1/\${each#*:/}"; done
  exec chroot --userspec="$3" "$1" "\${@:4}"`;
const UNSHARE = ['--mount', '--pid', '--fork', '--kill-child', '--', 'bash', '-c', CONTAINER, 'container'];

/** Plays `docker` and `kubectl` in such containers. Volumes are folders, `todo-data` the one of whatever is there already. */
const engineOf = (root: string, volumes: string) => `#!/usr/bin/env bash
set -e
mounts=${volumes}/todo-data:/data
if [ "$1" = run ]; then
  shift
  mounts=
  while [[ $1 == --* ]]; do
    if [ "$1" = --volume ]; then
      shift
      mounts+=" ${volumes}/\${1%:ro}"
    fi
    shift
  done
  shift
  set -- /usr/bin/todo-service "$@"
else
  while [ "$1" != /usr/bin/todo-service ]; do shift; done
fi
exec unshare ${UNSHARE.map(shellWord).join(' ')} ${root} "$mounts" 10001:0 "$@"
`;

describe('The container image', () => {
  let folder = '';
  let root = '';
  let config: ImageConfig;

  before(async () => {
    await must(process.execPath, join(project, 'tools/image/build.ts'));
    folder = await mkdtemp(join(tmpdir(), 'todo-service-image-'));
    root = join(folder, 'root');
    config = await unpackImage(join(project, 'build', 'todo-service-image.tar'), folder, root);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Runs what the image holds as that user, with a volume of its own. */
  async function container(user: string, name?: string): Promise<Way> {
    const volume = name ?? (await mkdtemp(join(folder, 'volume-')));
    await mkdir(volume, { recursive: true });
    const { uid, gid, mode } = await stat(join(root, 'data'));
    await chmod(volume, mode & 0o7777);
    await chown(volume, uid, gid);
    const image = Object.fromEntries(config.Env.map((line) => line.split('=', 2)));
    const start = [...UNSHARE, root, `${volume}:/data`, user, ...config.Entrypoint];
    const place = (env = {}) => ({
      cwd: '/',
      isParent: true,
      env: { PATH: process.env.PATH, ...image, ...env },
    });
    const ports = { TODO_PORT: '0', TODO_ADMIN_PORT: '0' };
    return {
      folder: '/data',
      serve: (env) => serve('unshare', [...start, ...config.Cmd], place({ ...ports, ...env })),
      run: (args, env) => run('unshare', [...start, ...args], place(env)),
      keepSecret: async (content) => {
        const file = join(volume, 'secret');
        await writeFile(file, content, { mode: 0o400 });
        await chown(file, Number(user.split(':')[0]), 0);
        return '/data/secret';
      },
    };
  }

  test('its archive has the name under which a kubelet looks for it', async () => {
    const { manifests } = JSON.parse(await readFile(join(folder, 'layout', 'index.json'), 'utf8'));
    const names = Object.values(manifests[0].annotations ?? {});
    assert.ok(names.includes(`docker.io/library/todo-service:${manifest.version}`), names.join());
  });

  for (const [whose, user] of [
    ['its own', '10001:0'],
    ['any', '1000650000:0'],
  ] as const) {
    describe(`as ${whose} user, process 1 of a read-only system`, () => {
      let way: Way;
      before(async () => {
        assert.equal(config.User, '10001:0');
        way = await container(user);
      });
      servesAsInstalled(() => way);
    });
  }

  test('gives out, backs up and restores by the lines of the page, in Docker and in Kubernetes', async () => {
    const volumes = await mkdtemp(join(folder, 'volumes-'));
    const [served, restored] = [
      await container('10001:0', join(volumes, 'todo-data')),
      await container('10001:0', join(volumes, 'todo-restored')),
    ];
    await mkdir(join(volumes, 'backup'));
    await chown(join(volumes, 'backup'), 10001, 0);
    await mkdir(join(root, 'backup'), { recursive: true });
    for (const name of ['docker', 'kubectl'])
      await writeFile(join(volumes, name), engineOf(root, volumes), { mode: 0o755 });
    const page = await readFile(join(project, 'docs', 'backup-and-restore.md'), 'utf8');
    const [make, restore] = Array.from(page.matchAll(/^```sh\n(docker [\s\S]*?)^```$/gm), ([, lines = '']) =>
      lines.replace('$(date +%F)', '2026-11-22'),
    );
    const shell = async (lines = '', env = {}) => {
      const image = Object.fromEntries(config.Env.map((line) => line.split('=', 2)));
      const place = { cwd: volumes, env: { ...image, PATH: `${volumes}:${process.env.PATH}`, ...env } };
      const { code, stdout, stderr } = await run('bash', ['-euc', lines], place);
      assert.equal(code, 0, lines + stdout + stderr);
      return stdout;
    };
    const auth = { issuer: 'https://issuer.test', audience: 'todos', secret: randomBytes(32) };
    const trusting = async (way: Way) => ({
      TODO_AUTH_ISSUER: auth.issuer,
      TODO_AUTH_AUDIENCE: auth.audience,
      TODO_AUTH_SECRET_FILE: await way.keepSecret(`base64:${auth.secret.toString('base64')}\n`),
    });
    const token = signer(auth)({ name: 'ada', role: 'editor' });

    {
      await using service = await served.serve(await trusting(served));
      await create(service, token);
      assert.match(await shell(make), /^\S+: \d+ bytes, 1 todo, checked\n$/);
    }
    assert.match(await shell(restore), /: todos 1, [\s\S]*\nAll is well\.\n$/);
    {
      await using service = await restored.serve(await trusting(restored));
      await read(service, token);
    }

    await using postgres = await PostgresServer.start();
    const [from, to] = [await postgres.makeDatabase(), await postgres.makeDatabase()];
    const kubernetes = await readFile(join(project, 'deploy', 'kubernetes', 'README.md'), 'utf8');
    const [write] = /^kubectl exec deployment.* export .*$/m.exec(kubernetes) ?? [];
    const [put] = /^kubectl exec --stdin .*$/m.exec(kubernetes) ?? [];
    {
      await using service = await served.serve({ ...(await trusting(served)), TODO_DATABASE: from });
      await create(service, token);
      await shell(write, { TODO_DATABASE: from });
      await shell(put, { TODO_DATABASE: from, NEW: to });
    }
    await using service = await served.serve({ ...(await trusting(served)), TODO_DATABASE: to });
    await read(service, token);
  });

  test('asks for the name of a database user when its own has none', async () => {
    const way = await container('1000650000:0');
    const { code, stderr } = await way.run(['check'], { TODO_DATABASE: 'postgres://127.0.0.1:1/todos' });
    assert.match(
      stderr,
      /^Cannot check the database, the configuration has faults:\n.*it must name a user.*\n$/,
    );
    assert.equal(code, 78);
  });

  test('says what it is', () => {
    const label = (name: string) => config.Labels[`org.opencontainers.image.${name}`];
    assert.equal(label('version'), manifest.version);
    assert.equal(label('revision'), commitOf(project));
    assert.equal(label('licenses'), manifest.license);
    assert.notEqual(label('source'), undefined);
    assert.deepEqual(config.Volumes, { '/data': {} });
    assert.deepEqual(config.ExposedPorts, { '5080/tcp': {} });
  });

  test('has one program and no shell, and nothing that somebody else than root may change but the volume', async () => {
    const programs: string[] = [];
    for await (const file of glob('**/*', { cwd: root, withFileTypes: true })) {
      const path = join(file.parentPath, file.name);
      const { mode, uid } = await stat(path);
      if (file.isFile()) {
        assert.equal(mode & 0o022, 0, `${path} can be written`);
        assert.equal(uid, 0, path);
        if ((mode & 0o111) !== 0 && !/\.so\b/.test(file.name)) programs.push(basename(path));
      }
    }
    assert.deepEqual(programs, ['todo-service']);
  });

  test('brings the licenses of all its parts, and certificates', async () => {
    for (const file of ['doc/todo-service/LICENSES.txt', 'doc/libc6/copyright', 'doc/libstdc++6/copyright']) {
      await access(join(root, 'usr', 'share', file), constants.R_OK);
    }
    assert.ok((await stat(join(root, 'etc/ssl/certs/ca-certificates.crt'))).size > 100_000);
  });
});
