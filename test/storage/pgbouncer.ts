import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../folder.ts';
import { atPort, PASSWORD, type PostgresServer } from './postgres-server.ts';

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

/**
 * Starts a PgBouncer of this test's own, in transaction mode: each transaction may have another connection to the server.
 *
 * @param settings Lines of its configuration.
 */
export async function startPgBouncer(
  server: PostgresServer,
  users: readonly string[],
  settings: readonly string[],
): Promise<{ readonly port: number } & AsyncDisposable> {
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
  const ended = once(bouncer, 'exit');
  const answers = () =>
    server.execute(atPort(server.url, port), 'SELECT 1').then(
      () => true,
      (error: Error) => !/ECONNREFUSED/.test(error.message),
    );
  while (!(await answers())) {
    if (bouncer.exitCode !== null) throw new Error(`PgBouncer ended with ${bouncer.exitCode}`);
    await sleep(20);
  }
  return {
    port,
    async [Symbol.asyncDispose]() {
      bouncer.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
