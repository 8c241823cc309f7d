import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where a server is, and how it is made. */
interface Made {
  /** The folder of `initdb` and `postgres`. */
  readonly programs: string;
  /** Made by `initialise`; others may enter its parents. */
  readonly dataFolder: string;
  readonly port: number;
  readonly password: string;
  /** `name=value`. */
  readonly settings: readonly string[];
}

/** A server that this machine has programs of, as `EmbeddedPostgres` is for those that npm installs. */
export class InstalledPostgres {
  readonly #made: Made;
  #process: ChildProcess | undefined;

  constructor(made: Made) {
    this.#made = made;
  }

  async initialise(): Promise<void> {
    const { programs, dataFolder, password } = this.#made;
    const user = await whoServes();
    await mkdir(dataFolder);
    if (user !== undefined) await chown(dataFolder, user.uid, user.gid);
    const passwordFile = `${dataFolder}.password`;
    await writeFile(passwordFile, password);
    const flags = ['--username=postgres', '--auth=password', '--encoding=UTF8', '--locale=C', '--no-sync'];
    const where = [`--pgdata=${dataFolder}`, `--pwfile=${passwordFile}`];
    await run(join(programs, 'initdb'), [...where, ...flags], user);
    await rm(passwordFile);
  }

  /** Resolves when the server takes writes, and rejects when it ends before. */
  async start(): Promise<void> {
    const { programs, dataFolder, port, settings } = this.#made;
    const args = ['-D', dataFolder, '-p', `${port}`, ...settings.flatMap((setting) => ['-c', setting])];
    const server = spawn(join(programs, 'postgres'), args, {
      ...(await whoServes()),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process = server;
    const end = (): void => void server.kill('SIGQUIT');
    process.once('exit', end);
    server.once('exit', () => process.off('exit', end));
    let said = '';
    await new Promise<void>((resolve, reject) => {
      server.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = `${said}${text}`.slice(-10_000);
        if (said.includes('database system is ready to accept connections')) resolve();
      });
      server.once('error', reject);
      server.once('close', () => reject(new Error(`The server ended: ${said}`)));
    });
  }

  async stop(): Promise<void> {
    const server = this.#process;
    this.#process = undefined;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGINT');
    await once(server, 'exit');
  }
}

/** The user of servers that root starts: a server refuses to run as root. Rejects while there is none. */
export async function whoServes(): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres'])));
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
}
