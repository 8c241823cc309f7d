import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { instanceUnitOf } from '../../tools/debian/instances.ts';
import { sh } from '../commands/recipes.ts';
import { project } from '../package/npm.ts';
import { run } from '../package/program.ts';
import { temporaryFolder } from '../support/folder.ts';

const read = (path: string) => readFile(join(project, path), 'utf8');
const unit = await read('deploy/todo-service.service');
const template = instanceUnitOf(unit);

test('an instance has the unit of the one service but for its name, its ports and what excludes the other', () => {
  const lines = (text: string) => text.split('\n').filter((line) => !line.startsWith('#'));
  const [own, others] = [lines(template), lines(unit)];
  assert.deepEqual(
    own.filter((line) => !others.includes(line)),
    [
      'Description=Todo Service, instance %i',
      'Conflicts=todo-service.service todo-service.socket',
      'ExecStart=/usr/bin/env TODO_PORT=508%i TODO_ADMIN_PORT=919%i /usr/lib/todo-service/instance %i',
      'ExecStartPost=-/usr/bin/env TODO_ADMIN_PORT=919%i /usr/bin/todo-service healthcheck --live',
    ],
  );
  assert.deepEqual(
    others.filter((line) => !own.includes(line)),
    [
      'Description=Todo Service',
      'ExecStart=/usr/bin/todo-service serve',
      'Environment=TODO_ADMIN_PORT=9090',
      'ExecStartPost=-/usr/bin/todo-service healthcheck --live',
      "ExecStopPost=+/bin/sh -c 'case $$EXIT_STATUS in 2|65|78) exec systemctl --no-block stop todo-service.socket; esac'",
    ],
  );
  assert.equal(own.length, others.length - 1);
  assert.match(template, /^RestartPreventExitStatus=2 65 78$/m);
  assert.match(template, /^ProtectSystem=strict$/m);
});

test('a unit that lacks a line that an instance changes is refused', () => {
  assert.throws(
    () => instanceUnitOf(unit.replace('ExecStart=', 'ExecStart=-')),
    /must have the line "ExecStart=/,
  );
});

const noSystemd =
  spawnSync('systemd-analyze', ['--version']).error !== undefined && 'there is no systemd-analyze';
test('systemd has nothing to say about an instance', { skip: noSystemd }, async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, 'todo-service@.service'), template);
  await assertVerified(folder.path, 'todo-service@9.service');
});

test('systemd has nothing to say about the units with the lines that the page adds to them', {
  skip: noSystemd,
}, async () => {
  const page = await read('docs/installation.md');
  const added = Array.from(
    page.matchAll(/^```ini\n(\[(?:Socket|Service)\]\n.*?)^```$/gms),
    ([, lines = '']) => lines,
  );
  assert.ok(added.length >= 4, `${added.length} blocks`);
  for (const lines of added) {
    const name = lines.startsWith('[Socket]') ? 'todo-service.socket' : 'todo-service.service';
    await using folder = await temporaryFolder();
    // The group is that of another package.
    const own = lines.replace('www-data', 'root');
    await writeFile(
      join(folder.path, 'todo-service.service'),
      unit.replaceAll('/usr/bin/todo-service', '/bin/true'),
    );
    await writeFile(join(folder.path, 'todo-service.socket'), await read('deploy/todo-service.socket'));
    await mkdir(join(folder.path, `${name}.d`));
    await writeFile(join(folder.path, `${name}.d`, 'override.conf'), own);
    await assertVerified(folder.path, name);
  }
});

/** The words of systemd about a unit of a folder, but for those about others, must be none. */
async function assertVerified(folder: string, name: string): Promise<void> {
  const words = ['verify', '--man=no', '--recursive-errors=no', join(folder, name)];
  const { code, stdout, stderr } = await run('systemd-analyze', words, { cwd: folder, env: process.env });
  assert.deepEqual([code, stdout, stderr.replace(/^(?!.*todo-service).*\n/gm, '')], [0, '', '']);
}

/** Runs the program of an instance, which serves by a line that says so. */
async function asInstance(words: readonly string[], env: Readonly<Record<string, string>>) {
  await using folder = await temporaryFolder();
  const program = join(folder.path, 'todo-service');
  await writeFile(program, '#!/bin/sh\necho "$*" on "$TODO_PORT"\n', { mode: 0o755 });
  const script = (await read('deploy/debian/instance')).replaceAll('/usr/bin/todo-service', `"${program}"`);
  const file = join(folder.path, 'instance');
  await writeFile(file, script, { mode: 0o755 });
  return await run(file, words, {
    cwd: folder.path,
    env: { PATH: process.env.PATH, TODO_PORT: '5081', ...env },
  });
}

for (const TODO_DATABASE of ['postgres://todo:secret@db.example/todos', 'postgresql:///todos']) {
  test(`an instance serves where the database is ${TODO_DATABASE}`, async () => {
    for (const number of ['1', '9']) {
      const { code, stdout, stderr } = await asInstance([number], { TODO_DATABASE });
      assert.deepEqual([code, stdout, stderr], [0, 'serve on 5081\n', '']);
    }
  });
}

for (const [what, env] of [
  ['none', {}],
  ['empty', { TODO_DATABASE: '' }],
  ['SQLite', { TODO_DATABASE: 'sqlite:/var/lib/todo-service/todos.db' }],
  ['a file of that name', { TODO_DATABASE: 'sqlite:postgres://todos' }],
  ['of another kind', { TODO_DATABASE: 'mysql://todo:secret@db.example/todos' }],
  ['no address', { TODO_DATABASE: 'postgres' }],
] as const) {
  test(`an instance whose database is ${what} ends with 78, in one line without the address`, async () => {
    const { code, stdout, stderr } = await asInstance(['1'], env);
    assert.equal(code, 78);
    assert.equal(
      stdout + stderr,
      'Cannot start: TODO_DATABASE must begin with "postgres://" for several instances: a SQLite file has one process, todo-service\n',
    );
  });
}

for (const words of [['0'], ['10'], ['01'], ['-1'], ['1a'], ['a'], ['*'], ['1\n2'], [''], []]) {
  test(`an instance with the number ${JSON.stringify(words[0])} ends with 78`, async () => {
    const { code, stderr } = await asInstance(words, { TODO_DATABASE: 'postgres://todo@db.example/todos' });
    assert.equal(code, 78);
    assert.match(
      stderr,
      /^Cannot start: an instance must have a number from 1 to 9, like todo-service@1, received "/,
    );
  });
}

/** Runs the program for restarts among what stands for systemd, and gives the orders that this got. */
async function restart(units: string, { failing = 'none', ready = 'true' }) {
  await using folder = await temporaryFolder();
  // Its own address, not that of the file of variables, nor of another process.
  const own = { TODO_ADMIN_HOST: '::1', TODO_ADMIN_PORT: '9192', TODO_OTHER: 'a b' };
  // What a process whose variables were changed may have: nothing of it runs, as root.
  const changed = { TODO_ADMIN_A: 'b touch owned', TODO_ADMIN_B: 'c\ntouch\nowned', TODO_ADMIN_: '$(id)' };
  const env = { ...changed, ...own };
  const process = spawn('sleep', ['600'], { env: { PATH: '/usr/bin:/bin', ...env } });
  try {
    const programs = {
      systemctl: `case $1 in
          list-units) [ "$*" = "list-units --plain --no-legend --state=active,activating todo-service@*.service" ] && printf '${units}' ;;
          show) [ "$2 $3" = "--property=MainPID --value" ] && echo ${process.pid} ;;
        esac`,
      'deb-systemd-invoke': `echo "$*" >>orders; case "$*" in *${failing}*) exit 1 ;; esac`,
      'todo-service': `echo "$* $TODO_ADMIN_HOST $TODO_ADMIN_PORT" >>orders; ${ready}`,
    };
    const script = (await read('deploy/debian/restart'))
      .replace('/usr/bin/todo-service', 'todo-service')
      .replace('timeout 15', 'timeout 5');
    const { code, stdout, stderr } = await sh(folder.path, script.replace('#!/bin/sh', 'set +e'), {
      programs,
    });
    const orders = (await readFile(join(folder.path, 'orders'), 'utf8')).trim().split('\n');
    return { code, said: stdout + stderr, orders };
  } finally {
    process.kill();
  }
}

const line = (unit: string) => `${unit} loaded active running Todo Service, instance\\n`;
const THREE = [1, 2, 3].map((number) => line(`todo-service@${number}.service`)).join('');
const ASKED = 'healthcheck ::1 9192';

test('instances are restarted one after the other, and each is asked where it listens before the next one', async () => {
  assert.deepEqual(await restart(THREE, {}), {
    code: 0,
    said: '',
    orders: [1, 2, 3].flatMap((number) => [`restart todo-service@${number}.service`, ASKED]),
  });
});

test('an instance that is not ready at once is asked again', async () => {
  const ready = 'test "$(grep -c healthcheck orders)" -gt 2';
  const { code, orders } = await restart(line('todo-service@2.service'), { ready });
  assert.deepEqual([code, orders], [0, ['restart todo-service@2.service', ASKED, ASKED, ASKED]]);
});

for (const [how, number, failure] of [
  ['does not start', 1, { failing: '@1' }],
  ['does not start', 3, { failing: '@3' }],
  ['is not ready in time', 2, { ready: 'test "$(grep -c restart orders)" -lt 2' }],
] as const) {
  test(`the first instance that ${how} ends the restart with 1, and those behind it run on: ${number} of 3`, async () => {
    const { code, said, orders } = await restart(THREE, failure);
    assert.equal(code, 1);
    const name = `todo-service@${number}.service`;
    assert.equal(
      said,
      `${name} is not ready within 15 s, and no further instance is restarted: journalctl -u ${name}\n`,
    );
    assert.deepEqual(
      orders.filter((order) => order.startsWith('restart')),
      [1, 2, 3].slice(0, number).map((each) => `restart todo-service@${each}.service`),
    );
  });
}

test('where no instance runs, the one service is restarted', async () => {
  assert.deepEqual(await restart('', {}), {
    code: 0,
    said: '',
    orders: ['restart todo-service.service'],
  });
});
