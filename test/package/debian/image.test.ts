import assert from 'node:assert/strict';
import { constants } from 'node:fs';
import { access, chmod, chown, glob, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import manifest from '../../../package.json' with { type: 'json' };
import { commitOf } from '../../../tools/origin.ts';
import { plainEnvironment, project } from '../npm.ts';
import { run, serve } from '../program.ts';
import { servesAsInstalled, type Way } from '../ways.ts';
import { type ImageConfig, unpackImage } from './archive.ts';

/** What an engine does: own mounts, a system that is read-only but for the volume, process 1, a user who is not root. */
const CONTAINER = `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && mount --bind "$2" "$1/data" &&
  exec chroot --userspec="$3" "$1" "\${@:4}"`;

describe('The container image', () => {
  let folder = '';
  let root = '';
  let config: ImageConfig;

  before(async () => {
    const built = await run('npm', ['run', 'image'], { cwd: project, env: plainEnvironment });
    assert.equal(built.code, 0, built.stdout + built.stderr);
    folder = await mkdtemp(join(tmpdir(), 'todo-service-image-'));
    root = join(folder, 'root');
    config = await unpackImage(join(project, 'build', 'todo-service-image.tar'), folder, root);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Runs what the image holds as that user, with a volume of its own. */
  async function container(user: string): Promise<Way> {
    const volume = await mkdtemp(join(folder, 'volume-'));
    const { uid, gid, mode } = await stat(join(root, 'data'));
    await chmod(volume, mode & 0o7777);
    await chown(volume, uid, gid);
    const image = Object.fromEntries(config.Env.map((line) => line.split('=', 2)));
    const words = ['--mount', '--pid', '--fork', '--kill-child', '--', 'bash', '-c', CONTAINER, 'container'];
    const start = [...words, root, volume, user, ...config.Entrypoint];
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
      keepSecret: async (secret) => {
        const file = join(volume, 'secret');
        await writeFile(file, secret, { mode: 0o400 });
        await chown(file, Number(user.split(':')[0]), 0);
        return '/data/secret';
      },
    };
  }

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

  test('asks for the name of a database user when its own has none', async () => {
    const way = await container('1000650000:0');
    const { code, stderr } = await way.run(['check'], { TODO_DATABASE: 'postgres://127.0.0.1:1/todos' });
    assert.match(stderr, /^Cannot check the database: .*it must name a user.*\n$/);
    assert.equal(code, 69);
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
