import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { parseEnv } from 'node:util';
import { signer } from '../../packages/conformance/src/sign.ts';
import type { Todo } from '../../src/shared-list/members.ts';
import { page, recipe, sh } from '../commands/recipes.ts';
import { PASSWORD, PostgresServer } from '../storage/postgres-server.ts';
import { freePort, listen, mountDisk, noMounts, temporaryFolder } from '../support/folder.ts';
import { noHaproxy, noNginx, startHaproxyOfTwo, startNginxOfTwo } from '../support/proxies.ts';
import { clientsBehind } from '../support/restart-behind.ts';
import { authVariables, type Running, startService } from '../support/start.ts';

const BACKUPS = await page('backup-and-restore.md');
const INCIDENTS = await page('incidents.md');
const INSTALLATION = await page('installation.md');
const MOVING = await page('moving-data.md');
const POSTGRESQL = await page('postgresql.md');
const SEVERAL = await page('several-instances.md');
const AS_OPERATOR = recipe(INSTALLATION, 'Debian package', /systemd-run/);
const BACKUP = recipe(BACKUPS, 'Back up').replace('sudo ', '');
const RESTORE = recipe(BACKUPS, 'Restore');
const START = lineOf(recipe(INSTALLATION, 'Debian package'), /systemctl enable/);
const UNTIL_READY = lineOf(recipe(SEVERAL, 'Two machines', /^until/m), /^until/);

const auth = { issuer: 'https://login.example.org', audience: 'todo-service', secret: randomBytes(32) };
const headers = {
  authorization: `Bearer ${signer(auth)({ sub: 'ada', role: 'editor' })}`,
  'content-type': 'application/json',
};

function lineOf(lines: string, pattern: RegExp): string {
  return lines.split('\n').find((line) => pattern.test(line)) ?? assert.fail(`no line ${pattern}`);
}

/** What an operator's machine has: folders below one, ports of its own, and what stands for systemd. */
async function layOutMachine(server: PostgresServer | undefined, mounts = false) {
  const folder = await temporaryFolder();
  const [port, adminPort] = [await freePort(), await freePort()];
  const at = (path: string) => join(folder.path, path);
  const [environment, data] = [at('/etc/todo-service/environment'), at('/var/lib/todo-service')];
  for (const path of ['/etc/todo-service', '/var/lib', '/backup']) mkdirSync(at(path), { recursive: true });
  const mounted = mounts ? mountDisk(data, '64m') : mkdirSync(data);
  const variables = {
    ...(await authVariables(auth, at('/etc'))),
    TODO_PORT: port,
    TODO_ADMIN_PORT: adminPort,
  };
  const configure = (more: object) =>
    appendFileSync(
      environment,
      Object.entries(more)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    );
  configure(variables);

  let service: Running | undefined;
  async function stop(signal?: NodeJS.Signals): Promise<void> {
    await service?.stop(signal);
    service = undefined;
  }
  async function obey(word: string): Promise<void> {
    if (/^(stop|restart)$/.test(word)) await stop();
    if (word === 'stop') return;
    const set = Object.entries(parseEnv(readFileSync(environment, 'utf8')));
    const env = Object.fromEntries(set.map(([name, value = '']) => [name, value]));
    service ??= await startService({ dataDir: data, env, args: ['--port', `${port}`] });
  }
  const systemd = createServer(async (request, response) => {
    const [word = ''] = (await text(request)).split(' ');
    await obey(word).catch((error) => response.writeHead(500).write(String(error)));
    response.end();
  });
  const programs = {
    systemctl: `exec curl --fail-with-body --silent --show-error --data "$*" http://127.0.0.1:${await listen(systemd)}/`,
    'systemd-run': `while :; do case $1 in
        EnvironmentFile=*) set -a; . "\${1#*=}"; set +a ;;
        TODO_*=*) export "$1" ;;
        --* | User=*) ;;
        *) exec "$@" ;;
      esac; shift; done`,
    'apt-get': '',
  };
  /** What a page says, of this machine. */
  const here = (lines: string) =>
    lines
      .replaceAll(/(?<![\w/])\/(var\/lib|etc|backup)\//g, `${folder.path}/$1/`)
      .replaceAll('127.0.0.1:9090', `127.0.0.1:${adminPort}`)
      .replaceAll('--host=db.example', `--host=127.0.0.1 --port=${server?.port}`)
      .replaceAll('@db.example', `@127.0.0.1:${server?.port}`)
      .replaceAll('?sslmode=verify-full', '')
      .replaceAll('=0.0.0.0', '=127.0.0.1')
      .replaceAll(' -g todo-service', '');
  const env = { no_proxy: '127.0.0.1' };
  const all = (lines: string, input = '') => sh(folder.path, here(lines), { env, programs, input });

  return {
    port,
    adminPort,
    at,
    configure,
    /** Runs lines, and gives how they ended. */
    tried: all,
    /** Runs lines that must succeed, and gives what they said. */
    async does(lines: string, input?: string): Promise<string> {
      const { code, stdout, stderr } = await all(lines, input);
      assert.equal(code, 0, `${lines}\n${stdout}${stderr}`);
      return stdout;
    },
    stop,
    ask: (method: string, path: string, body?: object) =>
      fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: JSON.stringify(body) ?? null }),
    async [Symbol.asyncDispose]() {
      await stop();
      systemd.closeAllConnections();
      systemd.close();
      mounted?.[Symbol.dispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

type Machine = Awaited<ReturnType<typeof layOutMachine>>;

const asOperator = (command: string) => AS_OPERATOR.replace('todo-service check', command);

function noPrograms(...names: readonly string[]): string | false {
  const missing = names.find((name) => spawnSync(name, ['--version']).error !== undefined);
  return missing !== undefined && `there is no ${missing} on the PATH`;
}

// In this order, as an operator meets it.
describe('The days of a machine', { concurrency: false, skip: noPrograms('curl') }, () => {
  /** By id, the title of each todo that must be there. */
  let known = new Map<number, string>();
  let machine: Machine;
  let server: PostgresServer;

  before(async () => {
    server = await PostgresServer.start();
    machine = await layOutMachine(server, noMounts() === false);
  });
  after(async () => {
    await machine[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  /** Adds todos, of which the first must get this id. */
  async function write(first: number, todos = 5): Promise<void> {
    for (let id = first; id < first + todos; id += 1) {
      const title = randomBytes(8).toString('hex');
      const reply = await machine.ask('POST', '/todos', { title, categoryId: 1 });
      assert.deepEqual([reply.status, reply.headers.get('location')], [201, `/todos/${id}`]);
      known.set(id, title);
    }
  }

  /** All that was answered is there, and nothing else; gives the tag of the list. */
  async function isWhole(): Promise<string | null> {
    const reply = await machine.ask('GET', '/todos');
    const todos: readonly Todo[] = JSON.parse(await reply.text());
    assert.deepEqual(
      todos.map(({ id, title }) => [id, title]),
      [...known].sort(([one], [other]) => one - other),
    );
    const checked = await server.whileSyncing(() => machine.does(AS_OPERATOR));
    assert.match(checked, /\nAll is well\.\n$/);
    return reply.headers.get('etag');
  }

  /** The recipe for a backup, of a day. */
  const backUp = (day: string) => machine.does(asOperator(BACKUP.trim().replace('$(date +%F).db', day)));

  test('installed and configured, it starts, and a backup is made beside it', async () => {
    await machine.does(START);
    await write(1, 20);
    assert.match(await backUp('2026-11-21.db'), /, 20 todos, checked\n$/);
    await isWhole();
  });

  test('killed, it is restored: the backup is there, its ids go on, the old database is kept whole', async () => {
    const saved = new Map(known);
    await write(21);
    await machine.stop('SIGKILL');
    const said = await machine.does(RESTORE);
    const [, old = '', next] =
      /^The old database is (\S+)\. Ids from 21 on are given out again: "--next-id (\d+)" prevents it$/m.exec(
        said,
      ) ?? [];
    assert.equal(next, '26');
    const kept = await machine.does(`todo-service check --database sqlite:${old}`);
    assert.match(kept, /\ntodos +25\ndefinitions +compared\nAll is well\.\n$/);
    known = saved;
    await isWhole();
    await write(21, 3);
    await backUp('2026-11-22.db');
  });

  test('killed again, an older backup is restored, and the ids since are given out no more', async () => {
    await write(24);
    await machine.stop('SIGKILL');
    await machine.does(RESTORE.replace(/(restore .*)/, '$1 --next-id 29'));
    known = new Map([...known].filter(([id]) => id <= 20));
    await isWhole();
    await write(29);
    await isWhole();
  });

  test('on a full disk nothing is half-written, reads go on, and with room it goes on by itself', {
    skip: noMounts(),
  }, async () => {
    const filler = machine.at('/var/lib/todo-service/filler');
    const { bavail, bsize } = statfsSync(machine.at('/var/lib/todo-service'));
    writeFileSync(filler, Buffer.alloc(bavail * bsize));
    const title = 'x'.repeat(100);
    let refused: Response;
    do {
      refused = await machine.ask('POST', '/todos', { title, categoryId: 1 });
      const id = /^\/todos\/(\d+)$/.exec(refused.headers.get('location') ?? '')?.[1];
      if (id !== undefined) known.set(Number(id), title);
    } while (refused.status === 201);
    assert.equal(refused.status, 503);
    assert.ok(refused.headers.has('retry-after'));
    const ready = () => machine.does(lineOf(INCIDENTS, /^curl .*ready/));
    let said = await ready();
    // A busy machine may be late, which is none.
    while (said.includes('does not answer in time')) said = await ready();
    assert.match(said, /full/);
    await isWhole();
    assert.match(await backUp('2026-11-23.db'), /, checked\n$/);
    rmSync(filler);
    await machine.does(UNTIL_READY);
    await write(Math.max(...known.keys()) + 1);
    await isWhole();
  });

  test('gone, it is made anew from the newest backup, with ids that no client knows', async () => {
    await backUp('2026-11-24.db');
    await machine.stop('SIGKILL');
    await machine.does('rm -r /var/lib/todo-service/*; cp /backup/todos-2026-11-24.db todos.db');
    await machine.does(recipe(INCIDENTS, 'When the machine is gone'));
    await machine.does(START);
    await isWhole();
    await write(5_000);
  });

  describe('moved to PostgreSQL', { concurrency: false, skip: noPrograms('createuser') }, () => {
    const AS_SUPERUSER = `export PGPASSWORD=${PASSWORD}`;
    const SET_UP = recipe(POSTGRESQL, 'Set up');
    const RESTORED = recipe(POSTGRESQL, 'Back up and restore').replace(/^(?!createdb).*\n/gm, '');
    const [, password = ''] = /`(sudo install [^`]+)`/.exec(POSTGRESQL) ?? [];

    before(() => machine.does(`${AS_SUPERUSER}\n${SET_UP}`, `${PASSWORD}\n`.repeat(2)));

    test('it has what it had, and its next id and the tag of its list are as before', async () => {
      const tag = await isWhole();
      writeFileSync(machine.at('password'), PASSWORD);
      await machine.does(password);
      const set = `printf 'TODO_DATABASE=%s\\nTODO_DATABASE_PASSWORD_FILE=%s\\n' "$NEW" "$TODO_DATABASE_PASSWORD_FILE" \\
        >>/etc/todo-service/environment`;
      const move = recipe(MOVING, 'From SQLite to PostgreSQL').replace(/^# now set .*$/m, set);
      await server.whileSyncing(() => machine.does(move));
      assert.equal(await isWhole(), tag);
      await write(5_005);
    });

    test('its backup, an export, is restored into an empty database', async () => {
      assert.match(await backUp('2026-11-25.jsonl'), /, checked\n$/);
      const saved = new Map(known);
      await write(5_010);
      await machine.does(`${AS_SUPERUSER}\n${RESTORED}`);
      await machine.does('systemctl stop todo-service');
      machine.configure({ TODO_DATABASE: `postgres://todo@127.0.0.1:${server.port}/todos_restored` });
      const said = await machine.does(
        asOperator('todo-service restore /backup/todos-2026-11-25.jsonl --next-id 5015'),
      );
      assert.match(said, /next id is 5015\n$/);
      await machine.does('systemctl start todo-service');
      known = saved;
      await isWhole();
      await write(5_015);
      await isWhole();
    });

    for (const [name, startProxy, skip] of [
      ['HAProxy', startHaproxyOfTwo, noHaproxy()],
      ['nginx', startNginxOfTwo, noNginx()],
    ] as const) {
      test(`two instances behind ${name} are restarted in turn, and one is killed: no read and no create with a key fails, and an import beside is refused`, {
        skip,
      }, async () => {
        const [install, restart] = [/apt-get/, /^until/m].map((line) =>
          recipe(SEVERAL, 'Two machines', line).replace('/todos?', '/todos_restored?'),
        );
        await using other = await layOutMachine(server);
        writeFileSync(other.at('password'), PASSWORD);
        await machine.does('systemctl stop todo-service');
        for (const each of [machine, other]) await each.does(install ?? '');
        await using proxy = await startProxy(machine, other);
        const seen = await clientsBehind(proxy, auth, async (goOn) => {
          await goOn();
          for (const each of [machine, other]) await each.does(restart ?? '');
          await machine.does(asOperator(`todo-service export ${name}.jsonl`));
          const refused = await other.tried(asOperator(`todo-service import ${machine.at(`${name}.jsonl`)}`));
          assert.equal(refused.code, 69);
          assert.match(refused.stderr, /^Cannot import: the database must be empty/);
          await pause(2_000);
          await machine.stop('SIGKILL');
          await goOn();
          await machine.does('systemctl start todo-service');
        });
        assert.deepEqual(seen, { failures: {}, notOnce: 0, twice: 0 });
      });
    }
  });
});
