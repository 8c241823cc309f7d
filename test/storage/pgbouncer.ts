import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, PASSWORD, type PostgresServer } from './postgres-server.ts';

/** Debian puts it where only root looks. */
const PATH = `${process.env.PATH}:/usr/sbin`;

/** Why no PgBouncer can be started here, for the `skip` of a test; false when one can. */
export function noPgBouncer(): string | false {
  try {
    execFileSync('pgbouncer', ['--version'], { env: { ...process.env, PATH }, stdio: 'ignore' });
    return false;
  } catch {
    return 'there is no pgbouncer on the PATH: install it, on Debian with "apt-get install pgbouncer"';
  }
}

/** A PgBouncer of this test's own, in transaction mode: each transaction may have another connection to the server. */
export class PgBouncer implements AsyncDisposable {
  readonly #folder: string;
  readonly #port: number;
  readonly #process: ChildProcess;

  private constructor(folder: string, port: number, process: ChildProcess) {
    this.#folder = folder;
    this.#port = port;
    this.#process = process;
  }

  /** @param settings Lines of its configuration. */
  static async start(
    server: PostgresServer,
    users: readonly string[],
    ...settings: string[]
  ): Promise<PgBouncer> {
    const folder = await mkdtemp(join(tmpdir(), 'todo-pgbouncer-'));
    const port = await freePort();
    const configuration = [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = plain',
      `auth_file = ${join(folder, 'users')}`,
      'pool_mode = transaction',
      'default_pool_size = 3',
      ...settings,
    ];
    await writeFile(join(folder, 'users'), users.map((user) => `"${user}" "${PASSWORD}"\n`).join(''));
    await writeFile(join(folder, 'ini'), `${configuration.join('\n')}\n`);
    // It refuses to run as root, and runs as the user that the server runs as.
    const { uid, gid } = await stat(server.dataFolder);
    for (const path of [folder, join(folder, 'users'), join(folder, 'ini')]) await chown(path, uid, gid);
    const bouncer = spawn('pgbouncer', ['--quiet', join(folder, 'ini')], {
      env: { ...process.env, PATH },
      stdio: 'ignore',
      ...(process.getuid?.() === 0 && { uid, gid }),
    });
    const started = new PgBouncer(folder, port, bouncer);
    await started.#answers(server);
    return started;
  }

  /** A connection string that goes through it. */
  through(url: string): string {
    const changed = new URL(url);
    changed.port = String(this.#port);
    return changed.href;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGKILL');
    await ended;
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #answers(server: PostgresServer): Promise<void> {
    const url = this.through(server.url);
    while (this.#process.exitCode === null) {
      const answered = await server.execute(url, 'SELECT 1').then(
        () => true,
        (error: Error) => !/ECONNREFUSED/.test(error.message),
      );
      if (answered) return;
      await sleep(20);
    }
    throw new Error(`PgBouncer ended with ${this.#process.exitCode}`);
  }
}
