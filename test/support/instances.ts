import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { instanceUnitOf } from '../../tools/debian/instances.ts';
import { sh } from '../commands/recipes.ts';
import { listen, temporaryFolder } from './folder.ts';
import type { Behind } from './proxies.ts';
import { PROGRAM } from './start.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFile(join(project, path), 'utf8');

/** An instance as systemd has it. */
interface Unit extends Behind {
  readonly name: string;
  state(): 'inactive' | 'activating' | 'active' | 'deactivating' | 'failed';
  /** 0 while there is no process. */
  pid(): number;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Resolves when it takes requests, which is later than `active`. */
  ready(): Promise<void>;
}

/**
 * A machine with the programs of the Debian package below a folder, and the first instances of `todo-service@.service`.
 * Here stands for systemd what runs its command lines, with other ports, starts them again as it says, and takes orders by
 * `systemctl`; users, limits and the sandbox are left out. Owned: `await using`.
 *
 * @param variables Of `/etc/todo-service/environment`.
 */
export async function layOutInstances(count: number, variables: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder();
  const at = (path: string) => join(folder.path, path);
  const here = (lines: string) => lines.replaceAll('/usr/', `${folder.path}/usr/`);
  for (const path of ['usr/bin', 'usr/lib/todo-service', 'data']) await mkdir(at(path), { recursive: true });
  /** The program of a version, which its process has among its variables. It takes the name as `dpkg` does. */
  async function install(version: string): Promise<void> {
    const lines = `#!/bin/sh\nexport VERSION=${version}\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`;
    await writeFile(at('usr/bin/todo-service.dpkg-new'), lines, { mode: 0o755 });
    await rename(at('usr/bin/todo-service.dpkg-new'), at('usr/bin/todo-service'));
  }
  await install('older');
  const instance = here(await read('deploy/debian/instance'));
  await writeFile(at('usr/lib/todo-service/instance'), instance, { mode: 0o755 });
  const restart = here(await read('deploy/debian/restart')).replace('timeout 15', 'timeout 120');

  const [port, adminPort] = [await freeDecade(count), await freeDecade(count)];
  const template = instanceUnitOf(await read('deploy/todo-service.service'))
    .replaceAll('=508%i', `=${port}%i`)
    .replaceAll('=919%i', `=${adminPort}%i`)
    .replaceAll(' /usr/lib/', ` ${folder.path}/usr/lib/`)
    .replaceAll(' /usr/bin/todo-service', ` ${at('usr/bin/todo-service')}`);
  const env = { PATH: process.env.PATH, TODO_DATA_DIR: at('data'), ...variables };
  const orders: string[] = [];
  const units = Array.from({ length: count }, (_, index) =>
    unitOf(template.replaceAll('%i', `${index + 1}`), {
      name: `todo-service@${index + 1}.service`,
      port: port * 10 + index + 1,
      adminPort: adminPort * 10 + index + 1,
      env,
      note: (what) => orders.push(`${what} ${index + 1}`),
    }),
  );

  async function obey([verb = '', ...words]: readonly string[]): Promise<string> {
    if (verb === 'list-units') {
      const running = units.filter((unit) => ['active', 'activating'].includes(unit.state()));
      return running.map((unit) => `${unit.name} loaded ${unit.state()} running\n`).join('');
    }
    const unit = units.find(({ name }) => name === words.at(-1));
    if (verb === 'show') return `${unit?.pid() ?? 0}\n`;
    if (verb !== 'restart' || unit === undefined) throw new Error(`no such order: ${verb} ${words}`);
    await unit.stop();
    await unit.start();
    return '';
  }
  const systemd = createServer(async (request, response) => {
    const words = (await text(request)).split(' ');
    const said = await obey(words).catch((error) => {
      response.writeHead(500);
      return String(error);
    });
    response.end(said);
  });
  const order = `exec curl --fail-with-body --silent --show-error --data "$*" http://127.0.0.1:${await listen(systemd)}/`;
  const programs = { systemctl: order, 'deb-systemd-invoke': order };

  return {
    units,
    /** What systemd did, oldest first: `start 1`, `stop 1`, and `up 1` when the start is over. */
    orders,
    install,
    /** Runs what the package brings for restarts. */
    restart: () =>
      sh(folder.path, `set +e\n${restart}`, { env: { no_proxy: '127.0.0.1', VERSION: '' }, programs }),
    async [Symbol.asyncDispose]() {
      await Promise.all(units.map((unit) => unit.stop()));
      systemd.closeAllConnections();
      systemd.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

function unitOf(
  text: string,
  options: Behind & {
    readonly name: string;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly note: (what: 'start' | 'up' | 'stop') => void;
  },
): Unit {
  const { env, note, ...rest } = options;
  const setting = (name: string) => new RegExp(`^${name}=-?(.*)$`, 'm').exec(text)?.[1] ?? '';
  const final = setting('RestartPreventExitStatus').split(' ');
  let state: ReturnType<Unit['state']> = 'inactive';
  let main: ChildProcess | undefined;
  process.once('exit', () => main?.kill('SIGKILL'));

  function launch(line: string, more = {}): ChildProcess {
    const [file = '', ...args] = line.split(' ');
    return spawn(file, args, { env: { ...env, ...more }, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  async function start(): Promise<void> {
    state = 'activating';
    note('start');
    const child = launch(setting('ExecStart'));
    main = child;
    child.once('exit', async (code) => {
      main = undefined;
      if (state === 'deactivating') return;
      state = final.includes(String(code)) ? 'failed' : 'activating';
      await pause(Number(setting('RestartSec')) * 1_000);
      if (state === 'activating') await start();
    });
    await once(launch(setting('ExecStartPost'), { MAINPID: String(child.pid) }), 'exit');
    if (main !== child || state !== 'activating') return;
    state = 'active';
    note('up');
  }
  return {
    ...rest,
    state: () => state,
    pid: () => main?.pid ?? 0,
    start,
    async stop() {
      state = 'deactivating';
      note('stop');
      const ended = main && once(main, 'exit');
      main?.kill();
      await ended;
      state = 'inactive';
    },
    async ready() {
      for (;;) {
        const answer = await fetch(`http://127.0.0.1:${rest.adminPort}/ready`).catch(() => undefined);
        await answer?.body?.cancel();
        if (answer?.ok) return;
        await pause(50);
      }
    },
  };
}

/**
 * A number below 2,000 behind which every digit from 1 to `count` makes a port that nobody listens on. `freePort` gives
 * none of them to another test while an instance is down.
 */
async function freeDecade(count: number): Promise<number> {
  for (;;) {
    const number = 1_100 + Math.floor(Math.random() * 900);
    const free = await Promise.all(
      Array.from({ length: count }, (_, index) => isFree(number * 10 + index + 1)),
    );
    if (free.every(Boolean)) return number;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createSocketServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** The version of which a process is. */
export async function versionOf(pid: number): Promise<string | undefined> {
  const file = `/proc/${pid}/environ`;
  return existsSync(file) ? /\0?VERSION=(\w*)\0/.exec(await readFile(file, 'utf8'))?.[1] : undefined;
}
