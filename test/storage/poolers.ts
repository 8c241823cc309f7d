import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/folder.ts';
import { atPort, PASSWORD, type PostgresServer } from './postgres-server.ts';

/** Debian puts them where only root looks. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

type Pooler = { readonly port: number } & AsyncDisposable;

/** Why a pooler cannot be started here, for the `skip` of a test; false when it can. */
export function missing(program: 'pgbouncer' | 'pgpool'): string | false {
  try {
    execFileSync(program, ['--version'], { env, stdio: 'ignore' });
    return false;
  } catch {
    return `there is no ${program} on the PATH: install Debian's package pgbouncer or pgpool2`;
  }
}

/**
 * Starts a PgBouncer of this test's own, in transaction mode: each transaction may have another connection to the server.
 *
 * @param settings Lines of its configuration.
 */
export function startPgBouncer(
  server: PostgresServer,
  users: readonly string[],
  settings: readonly string[],
): Promise<Pooler> {
  return start(server, 'pgbouncer', ['--quiet'], 'SIGKILL', (folder, port) => ({
    users: users.map((user) => `"${user}" "${PASSWORD}"`),
    configuration: [
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
      // Else it refuses clients for 15 s when the server was away.
      'server_login_retry = 1',
      ...settings,
    ],
  }));
}

/** Starts a pgpool-II of this test's own, as it comes, but that all reads which it balances go to the standby. */
export async function startPgpool(primary: PostgresServer, standby: PostgresServer): Promise<Pooler> {
  const pcpPort = await freePort();
  return start(primary, 'pgpool', ['-n', '-f'], 'SIGINT', (folder, port) => ({
    configuration: [
      ...[primary, standby].flatMap((server, number) => [
        `backend_hostname${number} = '127.0.0.1'`,
        `backend_port${number} = ${server.port}`,
        `backend_weight${number} = ${number}`,
      ]),
      "listen_addresses = '127.0.0.1'",
      `port = ${port}`,
      `socket_dir = '${folder}'`,
      `pcp_port = ${pcpPort}`,
      `pcp_socket_dir = '${folder}'`,
      `pid_file_name = '${join(folder, 'pid')}'`,
      `logdir = '${folder}'`,
      "sr_check_user = 'postgres'",
      `sr_check_password = '${PASSWORD}'`,
      'allow_clear_text_frontend_auth = on',
    ],
  }));
}

/**
 * @param end The signal that ends it at once, with its processes.
 * @param filesOf The lines of its files, by name, in a folder of its own.
 */
async function start(
  server: PostgresServer,
  program: string,
  flags: readonly string[],
  end: NodeJS.Signals,
  filesOf: (folder: string, port: number) => Readonly<Record<string, readonly string[]>>,
): Promise<Pooler> {
  const folder = await mkdtemp(join(tmpdir(), 'todo-pooler-'));
  const port = await freePort();
  // It refuses to run as root, and runs as the user that the server runs as.
  const { uid, gid } = await stat(server.dataFolder);
  await chown(folder, uid, gid);
  for (const [name, lines] of Object.entries(filesOf(folder, port))) {
    await writeFile(join(folder, name), `${lines.join('\n')}\n`);
    await chown(join(folder, name), uid, gid);
  }
  const pooler = spawn(program, [...flags, join(folder, 'configuration')], {
    env,
    stdio: 'ignore',
    ...(process.getuid?.() === 0 && { uid, gid }),
  });
  const ended = once(pooler, 'exit');
  const answers = () =>
    server.execute(atPort(server.url, port), 'SELECT 1').then(
      () => true,
      (error: Error) => !/ECONNREFUSED/.test(error.message),
    );
  while (!(await answers())) {
    if (pooler.exitCode !== null || pooler.signalCode !== null)
      throw new Error(`${program} ended with ${pooler.exitCode ?? pooler.signalCode}`);
    await sleep(20);
  }
  return {
    port,
    async [Symbol.asyncDispose]() {
      pooler.kill(end);
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
