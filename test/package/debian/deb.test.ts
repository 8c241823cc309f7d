import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  appendFile,
  chown,
  copyFile,
  glob,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseEnv } from 'node:util';
import manifest from '../../../package.json' with { type: 'json' };
import { signer } from '../../../packages/conformance/src/sign.ts';
import { VARIABLES } from '../../../src/settings/table.ts';
import { page } from '../../commands/recipes.ts';
import { PostgresServer } from '../../storage/postgres-server.ts';
import { project } from '../npm.ts';
import { run, serve } from '../program.ts';
import { create, read, servesAsInstalled, type Way } from '../ways.ts';
import { layOutSystem, must } from './system.ts';

/** Stands for systemd, which a system without a machine cannot run: writes down what it is told. */
const SYSTEMCTL = `#!/bin/sh
echo "$@" >>/systemctl.log
`;
const CONFIGURATION = 'etc/todo-service/environment';
const WANTED = 'etc/systemd/system/multi-user.target.wants/todo-service.service';
const DATA = 'var/lib/todo-service';
const BACKUPS = 'var/backups/todo-service';
const METRICS = 'var/lib/todo-service-metrics';
const EXPORTED = 'var/lib/prometheus/node-exporter/todo-service-backup.prom';
const SOCKET_WANTED = 'etc/systemd/system/todo-service.service.wants/todo-service.socket';
const TIMER_WANTED = 'etc/systemd/system/timers.target.wants/todo-service-backup.timer';
const INSTANCES = ['multi-user', 'other'].map(
  (target, index) => `etc/systemd/system/${target}.target.wants/todo-service@${index + 1}.service`,
);
const UNITS = [
  'todo-service.service',
  'todo-service.socket',
  'todo-service@1.service',
  'todo-service-backup.service',
  'todo-service-backup.timer',
] as const;
const AUTH = {
  TODO_AUTH_ISSUER: 'https://issuer.test',
  TODO_AUTH_AUDIENCE: 'todos',
  TODO_AUTH_JWKS_URL: 'https://issuer.test/keys',
};
/** Copies that the timer's service keeps. */
const KEPT = 14;

// In this order, as an operator meets them.
describe('The Debian package', { concurrency: false }, () => {
  let folder = '';
  let root = '';
  let deb = '';
  let said = '';
  /** It reads the executable for a minute, beside the other tests. */
  let linted: Promise<string>;
  let way: Way;

  before(async () => {
    await must(process.execPath, join(project, 'tools/debian/build.ts'));
    const architecture = (await must('dpkg', '--print-architecture')).trim();
    deb = join(project, 'build', `todo-service_${manifest.version}_${architecture}.deb`);
    linted = must('lintian', '--allow-root', '--display-info', '--fail-on', 'info', deb);
    linted.catch(() => {});
    folder = await mkdtemp(join(tmpdir(), 'todo-service-deb-'));
    root = join(folder, 'root');
    await layOutSystem(root);
    await writeFile(join(root, 'usr/bin/systemctl'), SYSTEMCTL, { mode: 0o755 });
    await mkdir(join(root, 'run/systemd/system'), { recursive: true });
    said = await dpkg('--install', await bring(deb));
    way = await asUnit('todo-service.service');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function bring(file: string): Promise<string> {
    await copyFile(file, join(root, 'package.deb'));
    return '/package.deb';
  }

  const dpkg = (...words: readonly string[]) => must('chroot', root, 'dpkg', ...words);

  /** What the package had systemd do since the last call, but to read its units anew. */
  async function ordered(): Promise<readonly string[]> {
    const log = join(root, 'systemctl.log');
    const lines = existsSync(log) ? (await readFile(log, 'utf8')).trim().split('\n') : [];
    await rm(log, { force: true });
    return lines.filter((line) => /\b(start|stop|restart|enable|disable)\b/.test(line));
  }

  const fileOf = (unit: string) => join(root, 'usr/lib/systemd/system', unit.replace(/@\d/, '@'));

  async function textOf(unit: string): Promise<string> {
    const [, number = ''] = /@(\d)/.exec(unit) ?? [];
    return (await readFile(fileOf(unit), 'utf8')).replaceAll('%i', number);
  }

  /** Runs what the unit names, as its user and with its variables. */
  async function asUnit(name: (typeof UNITS)[number]): Promise<Way & { runWhole: Way['run'] }> {
    const unit = await textOf(name);
    const settings = (name: string) =>
      Array.from(unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm')), ([, value = '']) => value);
    const [command = ''] = settings('ExecStart');
    const [program = '', ...words] = command.split(' ');
    const user = `--userspec=${settings('User')}:${settings('Group')}`;
    const variables = Object.fromEntries(settings('Environment').map((line) => line.split('=', 2)));
    const place = (env = {}) => ({ cwd: '/', env: { PATH: process.env.PATH, ...variables, ...env } });
    return {
      folder: `/${DATA}`,
      serve: (env) =>
        serve(
          'chroot',
          [user, root, program, ...words],
          place({ TODO_PORT: '0', TODO_ADMIN_PORT: '0', ...env }),
        ),
      run: (args, env) => run('chroot', [user, root, program, ...args], place(env)),
      runWhole: (args, env = {}) => {
        const known: Readonly<Record<string, string | undefined>> = { ...variables, ...env };
        const filled = words.map((word) => word.replace(/^\$\{(\w+)\}$/, (_, name) => known[name] ?? ''));
        return run('chroot', [user, root, program, ...filled, ...args], place(env));
      },
      keepSecret: async (content) => {
        const file = join(root, DATA, 'secret');
        await writeFile(file, content, { mode: 0o400 });
        const { uid, gid } = await stat(join(root, DATA));
        await chown(file, uid, gid);
        return `/${DATA}/secret`;
      },
    };
  }

  test('starts nothing when it is installed, and says what to do next', async () => {
    assert.deepEqual(await ordered(), []);
    assert.match(
      said,
      /todo-service is installed and not started\. Next:\n.*\/etc\/todo-service\/environment/,
    );
  });

  test('has a user of its own, who alone sees the data, and a configuration that root alone reads', async () => {
    const [, , uid, gid, , home, shell] =
      /^todo-service:.*$/m.exec(await readFile(join(root, 'etc/passwd'), 'utf8'))?.[0].split(':') ?? [];
    assert.ok(Number(uid) < 1_000);
    assert.deepEqual([home, shell], [`/${DATA}`, '/usr/sbin/nologin']);
    const data = await stat(join(root, DATA));
    assert.deepEqual([data.uid, data.gid, data.mode & 0o777], [Number(uid), Number(gid), 0o700]);
    const configuration = await stat(join(root, CONFIGURATION));
    assert.deepEqual([configuration.uid, configuration.mode & 0o777], [0, 0o600]);
  });

  describe('started as its unit says', () => {
    servesAsInstalled(() => way);
  });

  test('has units that systemd has nothing to say about, and that expose little', async () => {
    // The units of systemd itself, which the small system lacks.
    const own = await Array.fromAsync(glob('/usr/lib/systemd/system/*.target'));
    await must('cp', '--no-clobber', ...own, join(root, 'usr/lib/systemd/system'));
    for (const unit of UNITS) {
      const words = ['verify', '--man=no', '--recursive-errors=no', `--root=${root}`, unit];
      assert.equal(await must('systemd-analyze', ...words), '', unit);
      if (!unit.endsWith('.service')) continue;
      const offline = ['security', '--offline=yes', '--threshold=11', '--no-pager'];
      await must('systemd-analyze', ...offline, fileOf(unit));
    }
  });

  test('goes on starting for as long as its database is away', async () => {
    const unit = await readFile(join(root, 'usr/lib/systemd/system/todo-service.service'), 'utf8');
    // Without it: five starts in 10 s, then never again. A missing SQLite folder ends a start within 0.2 s.
    assert.match(unit, /^\[Unit\]\n[^[]*^StartLimitIntervalSec=0$/m);
    assert.match(unit, /^RestartPreventExitStatus=2 65 78$/m);
    const gone = await way.run(['serve'], { ...AUTH, TODO_DATABASE: 'sqlite:/proc/gone/todos.db' });
    assert.equal(gone.code, 69, gone.stderr);
  });

  describe('backed up as its timer says', { concurrency: false }, () => {
    const copies = async () => (await readdir(join(root, BACKUPS))).sort();
    const older = Array.from({ length: KEPT + 1 }, (_, day) => `todos-202001${day + 10}T000000Z.db`);
    const foreign = ['todos-before-upgrade.db', 'todos.db'];
    const backUp = async (env = {}) => (await asUnit('todo-service-backup.service')).runWhole([], env);

    before(async () => {
      for (const name of [...older, ...foreign]) await writeFile(join(root, BACKUPS, name), name);
    });

    test('a failure removes no copy', async () => {
      const { code, stderr } = await backUp({ TODO_DATABASE: 'postgres://todo@127.0.0.1:1/todos' });
      assert.match(stderr, /^Cannot back up/);
      assert.equal(code, 69);
      assert.deepEqual(await copies(), [...older, ...foreign].sort());
    });

    test(`has a copy more that is checked, and keeps the newest ${KEPT}`, async () => {
      const { code, stdout, stderr } = await backUp();
      assert.equal(code, 0, stderr);
      assert.match(stdout, /, checked\n$/);
      const left = (await copies()).filter((name) => !foreign.includes(name));
      const newest = left.at(-1) ?? '';
      assert.deepEqual(left, [...older.slice(-KEPT + 1), newest]);
      const checked = await way.run(['check', '--database', `sqlite:/${BACKUPS}/${newest}`]);
      assert.equal(checked.code, 0, checked.stdout);
      const { mode } = await stat(join(root, BACKUPS, newest));
      assert.equal(mode & 0o777, 0o600);
      for (const name of foreign) assert.ok((await copies()).includes(name), name);
    });

    test(`of PostgreSQL has an export more, keeps the newest ${KEPT} exports, and every copy of SQLite`, async () => {
      await using server = await PostgresServer.start();
      const before = await copies();
      const exports = older.map((name) => name.replace(/db$/, 'jsonl'));
      for (const name of exports) await writeFile(join(root, BACKUPS, name), name);
      const { code, stdout, stderr } = await backUp({ TODO_DATABASE: await server.makeMigrated() });
      assert.equal(code, 0, stderr);
      const newest = basename(stdout.split(':')[0] ?? '');
      assert.match(newest, /^todos-\d{8}T\d{6}Z\.jsonl$/);
      assert.deepEqual(await copies(), [...before, ...exports.slice(-KEPT + 1), newest].sort());
    });
  });

  test('says when a backup was made, as its user and in a folder of its own, to whoever has a link to it', async () => {
    const unit = await textOf('todo-service-backup.service');
    const [, script = ''] = /^ExecStartPost=(.*)$/m.exec(unit) ?? [];
    const { uid } = await stat(join(root, DATA));
    const metrics = await stat(join(root, METRICS));
    assert.deepEqual([metrics.uid, metrics.mode & 0o777], [uid, 0o755]);
    const exporter = join(root, 'var/lib/prometheus/node-exporter');
    await mkdir(exporter, { recursive: true });
    const [, line = ''] = /^sudo (ln .*)/m.exec(await page('backup-and-restore.md')) ?? [];
    for (const _ of ['first', 'again']) {
      await must('chroot', '--userspec=todo-service:todo-service', root, script);
      await must('chroot', root, ...line.split(' '));
    }
    assert.deepEqual(await readdir(join(root, METRICS)), ['todo-service-backup.prom']);
    const told = await must('chroot', '--userspec=nobody:nogroup', root, 'cat', `/${EXPORTED}`);
    const [, at] = /^todo_backup_last_success_timestamp_seconds (\d+)$/m.exec(told) ?? [];
    assert.ok(Math.abs(Date.now() / 1000 - Number(at)) < 600, told);
  });

  test('is backed up into another folder, and keeps another number, as the file of variables says', async () => {
    const folder = join(root, 'srv/copies');
    await mkdir(folder, { recursive: true });
    const { uid, gid } = await stat(join(root, DATA));
    await chown(folder, uid, gid);
    for (const day of [1, 2, 3]) await writeFile(join(folder, `todos-2020010${day}T000000Z.db`), '');
    const env = { BACKUP_FOLDER: '/srv/copies', BACKUP_COUNT: '2' };
    const { code, stderr } = await (await asUnit('todo-service-backup.service')).runWhole([], env);
    assert.equal(code, 0, stderr);
    const [older, newest] = (await readdir(folder)).sort();
    assert.equal(older, 'todos-20200103T000000Z.db');
    assert.ok(newest);
    const unit = await readFile(join(root, 'usr/lib/systemd/system/todo-service-backup.service'), 'utf8');
    assert.doesNotMatch(unit, /^(ReadWritePaths|ProtectSystem=strict|PrivateNetwork)/m);
  });

  test('brings the documents, in the folders that the checkout has', async () => {
    const documents = join(root, 'usr/share/doc/todo-service');
    for (const folder of ['docs', 'deploy/kubernetes', 'deploy/proxies'])
      assert.deepEqual(await readdir(join(documents, folder)), await readdir(join(project, folder)));
    for (const folder of ['.', 'packages/client', 'packages/conformance'])
      assert.ok(existsSync(join(documents, folder, 'README.md')), folder);
  });

  test('brings completions to the folders in which bash, zsh and fish look', async () => {
    for (const file of [
      'bash-completion/completions/todo-service',
      'zsh/vendor-completions/_todo-service',
      'fish/vendor_completions.d/todo-service.fish',
    ]) {
      const path = join(root, 'usr/share', file);
      assert.match(await readFile(path, 'utf8'), /categories/);
      assert.equal((await stat(path)).mode & 0o777, 0o644);
    }
  });

  test('has every variable in its manual page, with what it may hold', async () => {
    const page = join(root, 'usr/share/man/man1/todo-service.1.gz');
    const manual = await must('man', '--local-file', page);
    const [, environment = ''] = manual.split(/^ENVIRONMENT$/m);
    for (const variable of VARIABLES) assert.match(environment, new RegExp(`^ +${variable}$`, 'm'));
    assert.match(environment, /TODO_PORT\n +0[–-]65535; default 5080\. /);
  });

  test('has a manual page of every help text, without a warning', async () => {
    const page = join(root, 'usr/share/man/man1/todo-service.1.gz');
    const manual = await must('man', '--warnings', '--local-file', page);
    assert.doesNotMatch(manual, /: warning/);
    for (const words of [
      'TODO_AUTH_ISSUER',
      'todo-service healthcheck',
      'Usage: todo-service token verify ',
    ]) {
      assert.ok(manual.includes(words), words);
    }
  });

  test('restarts and keeps data and configuration when it is upgraded', async () => {
    await appendFile(join(root, CONFIGURATION), 'TODO_PORT=8080\n');
    await mkdir(join(root, WANTED, '..'), { recursive: true });
    await symlink('/usr/lib/systemd/system/todo-service.service', join(root, WANTED));
    const tree = join(folder, 'newer');
    await must('dpkg-deb', '--raw-extract', deb, tree);
    const control = join(tree, 'DEBIAN', 'control');
    const newer = (await readFile(control, 'utf8')).replace(/^Version: .*$/m, 'Version: 99.0.0');
    await writeFile(control, newer);
    await must('dpkg-deb', '--root-owner-group', '-Znone', '--build', tree, `${tree}.deb`);

    const words = await dpkg('--install', await bring(`${tree}.deb`));
    assert.doesNotMatch(words, /Next:/);
    assert.match(await readFile(join(root, CONFIGURATION), 'utf8'), /TODO_PORT=8080\n$/);
    assert.ok(existsSync(join(root, DATA, 'todos.db')));
    assert.match(
      (await ordered()).join('\n'),
      /^--quiet --system restart todo-service-backup\.timer\n--quiet --system restart todo-service\.service$/,
    );
  });

  describe('with instances', { concurrency: false }, () => {
    let postgres: PostgresServer;
    let variables: Readonly<Record<string, string>>;

    before(async () => {
      postgres = await PostgresServer.start();
      variables = {
        TODO_AUTH_ISSUER: 'https://issuer.test',
        TODO_AUTH_AUDIENCE: 'todos',
        TODO_AUTH_SECRET_FILE: await way.keepSecret(`base64:${randomBytes(32).toString('base64')}\n`),
        TODO_DATABASE: await postgres.makeDatabase(),
        // Those of the one service: an instance has its own.
        TODO_PORT: '1',
        TODO_ADMIN_PORT: '2',
      };
    });
    after(() => postgres[Symbol.asyncDispose]());

    test('serves on the ports of a number, and is upgraded one instance after the other', async () => {
      const one = await asUnit('todo-service@1.service');
      await using service = await one.serve(variables);
      assert.equal(new URL(service.baseUrl).port, '5081');
      const [, line = ''] = /^ExecStartPost=-(.*)$/m.exec(await textOf('todo-service@1.service')) ?? [];
      await must('chroot', root, ...line.split(' '));

      // The small system has no /proc: this stands for that of the process.
      await mkdir(join(root, 'proc/77'), { recursive: true });
      await writeFile(join(root, 'proc/77/environ'), 'TODO_PORT=5081\0TODO_ADMIN_PORT=9191\0');
      const knowing = `case $* in
        *list-units*@*) printf 'todo-service@%s.service loaded active\\n' 1 2 ;;
        show*) echo 77 ;;
      esac
      `;
      await writeFile(join(root, 'usr/bin/systemctl'), SYSTEMCTL + knowing);
      const words = await dpkg('--install', await bring(join(folder, 'newer.deb')));
      await writeFile(join(root, 'usr/bin/systemctl'), SYSTEMCTL);
      await rm(join(root, 'proc/77'), { recursive: true });
      assert.doesNotMatch(words, /is not ready/);
      assert.deepEqual(
        (await ordered()).map((order) => order.replace('--quiet --system ', '')),
        [
          'restart todo-service-backup.timer',
          'restart todo-service@1.service',
          'restart todo-service@2.service',
        ],
      );
    });

    test('an instance on SQLite, or with the number 0, ends with 78', async () => {
      const { TODO_DATABASE: _, ...others } = variables;
      const one = await asUnit('todo-service@1.service');
      assert.equal((await one.runWhole([], others)).code, 78);
      const [, line = ''] = /^ExecStart=(.*)$/m.exec(await textOf('todo-service@0.service')) ?? [];
      const place = { cwd: '/', env: { PATH: process.env.PATH, ...variables } };
      assert.equal((await run('chroot', [root, ...line.split(' ')], place)).code, 78);
    });
  });

  test('stops and keeps data and configuration when it is removed, and takes all but backups along when it is purged', async () => {
    await mkdir(join(root, TIMER_WANTED, '..'), { recursive: true });
    await symlink('/usr/lib/systemd/system/todo-service-backup.timer', join(root, TIMER_WANTED));
    await mkdir(join(root, SOCKET_WANTED, '..'), { recursive: true });
    await symlink('/usr/lib/systemd/system/todo-service.socket', join(root, SOCKET_WANTED));
    for (const link of INSTANCES) {
      await mkdir(join(root, link, '..'), { recursive: true });
      await symlink('/usr/lib/systemd/system/todo-service@.service', join(root, link));
    }
    await dpkg('--remove', 'todo-service');
    assert.match(
      (await ordered()).join('\n'),
      /stop .*todo-service-backup\.timer .*todo-service\.socket todo-service\.service todo-service@\*\.service$/,
    );
    for (const link of INSTANCES) await assert.rejects(lstat(join(root, link)), { code: 'ENOENT' });
    assert.equal(existsSync(join(root, 'usr/bin/todo-service')), false);
    assert.ok(existsSync(join(root, DATA, 'todos.db')));
    assert.ok(existsSync(join(root, CONFIGURATION)));

    await dpkg('--purge', 'todo-service');
    for (const path of [DATA, METRICS, CONFIGURATION, WANTED, join(SOCKET_WANTED, '..'), TIMER_WANTED])
      assert.equal(existsSync(join(root, path)), false, path);
    assert.equal((await readdir(join(root, BACKUPS))).length, 2 * KEPT + 2);
  });

  test('an older one, whose conffile the edited file was, beside a unit by hand, is upgraded without a question, and its backup restored', async () => {
    const tree = join(folder, 'older');
    await must('dpkg-deb', '--raw-extract', deb, tree);
    const control = await readFile(join(tree, 'DEBIAN/control'), 'utf8');
    await writeFile(join(tree, 'DEBIAN/control'), control.replace(/^Version: .*$/m, 'Version: 0.0.1'));
    await writeFile(join(tree, 'DEBIAN/conffiles'), `/${CONFIGURATION}\n`);
    await mkdir(join(tree, 'etc/todo-service'), { recursive: true });
    await writeFile(join(tree, CONFIGURATION), '# of before\n', { mode: 0o600 });
    await must('dpkg-deb', '--root-owner-group', '-Znone', '--build', tree, `${tree}.deb`);
    await dpkg('--install', await bring(`${tree}.deb`));
    const auth = { issuer: 'https://issuer.test', audience: 'todos', secret: randomBytes(32) };
    const secret = await way.keepSecret(`base64:${auth.secret.toString('base64')}\n`);
    const edited = `TODO_AUTH_ISSUER=${auth.issuer}\nTODO_AUTH_AUDIENCE=todos\nTODO_AUTH_SECRET_FILE=${secret}\n`;
    await appendFile(join(root, CONFIGURATION), edited);
    const token = signer(auth)({ name: 'ada', role: 'editor' });
    const started = async () => {
      const set = Object.entries(parseEnv(await readFile(join(root, CONFIGURATION), 'utf8')));
      return way.serve(Object.fromEntries(set.map(([name, value = '']) => [name, value])));
    };
    {
      await using service = await started();
      await create(service, token);
    }
    const { stdout } = await (await asUnit('todo-service-backup.service')).runWhole([]);
    const [copy = ''] = stdout.split(':');
    const unit = join(root, 'etc/systemd/system/todo-service.service');
    await writeFile(unit, '');

    // Nobody is at a terminal: a question would be the end of it.
    const words = await dpkg('--install', await bring(deb));
    assert.match(words, /\/etc\/systemd\/system\/todo-service\.service is used in place of .*: remove it\n/);
    assert.equal(await readFile(join(root, CONFIGURATION), 'utf8'), `# of before\n${edited}`);
    const { mode } = await stat(join(root, CONFIGURATION));
    assert.equal(mode & 0o777, 0o600);
    await rm(unit);
    {
      await using service = await started();
      await read(service, token);
      const headers = { authorization: `Bearer ${token}` };
      const gone = await fetch(`${service.baseUrl}/todos/1`, { method: 'DELETE', headers });
      assert.equal(gone.status, 204);
      await service.stop('SIGKILL');
    }
    const [, line = ''] = /^sudo (todo-service restore .*)/m.exec(await page('backup-and-restore.md')) ?? [];
    await must('chroot', root, ...line.replace(/\/backup\/\S+/, copy).split(' '));
    {
      await using service = await started();
      await read(service, token);
    }
    await dpkg('--purge', 'todo-service');
    assert.equal(existsSync(join(root, 'etc/todo-service')), false);
  });

  test('leaves lintian nothing to say', async () => {
    assert.equal(await linted, '');
  });
});
