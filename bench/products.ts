import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { freePort, temporaryFolder } from '../test/support/folder.ts';

/** How a product is asked by its own API. */
export interface Dialect {
  /** Its words for a request of the list, `PUT /todos/1 {…}` for one. */
  say(request: string): string;
  /** Gives the `Authorization` of a user who may write, or may not. */
  logIn(baseUrl: string, role: Role): Promise<string>;
  /** It refuses some requests that come at once, to be sent again. */
  readonly mayRefuse?: true;
}

type Role = 'editor' | 'viewer';

/** A product that serves a copy of the list's todos. */
export interface Started extends AsyncDisposable {
  readonly baseUrl: string;
  readonly pid: number;
}

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const PROGRAMS = at('build/python');

/** Installs both. */
export const BUILD = [
  'sh',
  '-c',
  `python3 -m venv ${PROGRAMS} && ${PROGRAMS}/bin/pip install --quiet --requirement requirements.txt`,
];

const PASSWORD = 'of-this-benchmark';

const [COLLECTION, RECORDS] = ['/v1/buckets/list/collections/todos', '/api/collections/todos/records'];

export const KINTO: Dialect = {
  // 409, "please retry", of changes to two records within a millisecond.
  mayRefuse: true,
  say: (request) => request.replace(/ \/todos/, ` ${COLLECTION}/records`).replace(/ (\{.*)/, ' {"data":$1}'),
  logIn: async (_, role) => `Basic ${Buffer.from(`${role}:${PASSWORD}`).toString('base64')}`,
};

export const POCKETBASE: Dialect = {
  // An id has 15 characters, a page at most 1,000 records.
  say: (request) =>
    request
      .replace(/^PUT/, 'PATCH')
      .replace(/ \/todos\/(\w+)/, (_, id) => ` ${RECORDS}/${idInPocketBase(id)}`)
      .replace(/^GET \/todos$/, `GET ${RECORDS}?perPage=1000&skipTotal=1`)
      .replace(/ \/todos/, ` ${RECORDS}`),
  async logIn(baseUrl, role) {
    const login = { identity: `${role}@example.org`, password: PASSWORD };
    const path = '/api/collections/users/auth-with-password';
    return JSON.parse(await ask(`${baseUrl}${path}`, 'POST', login)).token;
  },
};

const idInPocketBase = (id: string) => id.padStart(15, '0');

/** An answer of either, as the list has it. */
export function heard(text: string): unknown {
  const { data, items, ...record } = JSON.parse(text);
  const told = data ?? items ?? record;
  return Array.isArray(told) ? told.map(todoOf).sort((a, b) => Number(a.id) - Number(b.id)) : todoOf(told);
}

function todoOf({ id, title, done = false, categoryId }: Record<string, unknown>) {
  return { id: Number(id) || id, title, done, categoryId };
}

/** @param url of a database with the list's tables, which Kinto's stand beside. */
export async function startKinto(url: string): Promise<Started> {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const database = url.replace(/^postgres:/, 'postgresql:');
  const backends = ['STORAGE', 'CACHE', 'PERMISSION'].map((name) => [`KINTO_${name}_URL`, database]);
  const env = { PATH: process.env.PATH, ...Object.fromEntries(backends) };
  const words = [`${PROGRAMS}/bin/kinto`, 'migrate', '--ini', at('peers/kinto.ini')];
  await once(start(words, env), 'exit');
  const started = await serve(words.with(1, 'start').concat('--port', `${port}`), env, `${baseUrl}/v1/`);
  for (const role of ['editor', 'viewer'])
    await ask(`${baseUrl}/v1/accounts/${role}`, 'PUT', { data: { password: PASSWORD } });
  const authorization = await KINTO.logIn(baseUrl, 'editor');
  const bucket = { permissions: { read: ['system.Authenticated'] } };
  await ask(`${baseUrl}/v1/buckets/list`, 'PUT', bucket, authorization);
  const properties = {
    title: { type: 'string', minLength: 1, maxLength: 100 },
    done: { type: 'boolean' },
    categoryId: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
  };
  const schema = { type: 'object', required: ['title', 'categoryId'], properties };
  await ask(baseUrl + COLLECTION, 'PUT', { data: { schema } }, authorization);
  const client = new Client(url);
  await client.connect();
  const data = "jsonb_build_object('title', title, 'done', done, 'categoryId', category_id)";
  await client.query(`INSERT INTO objects (id, parent_id, resource_name, data, deleted)
    SELECT id, '/buckets/list/collections/todos', 'record', ${data}, false FROM todos; ANALYZE`);
  await client.end();
  return { ...started, baseUrl };
}

/** @param url of a SQLite file with the list's todos, which are copied into PocketBase's own. */
export async function startPocketBase(url: string): Promise<Started> {
  const folder = await temporaryFolder();
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  const flags = [`--http=${new URL(baseUrl).host}`, `--dir=${folder.path}`];
  const words = [
    `${PROGRAMS}/bin/pocketbase`,
    'serve',
    ...flags,
    `--migrationsDir=${at('peers/pocketbase')}`,
  ];
  const started = await serve(words, { PASSWORD }, `${baseUrl}/api/health`);
  using file = new DatabaseSync(`${folder.path}/data.db`);
  file.exec(`ATTACH '${url.replace('sqlite:', '')}' AS list; INSERT INTO todos (id, title, done, categoryId)
    SELECT printf('%015d', id), title, done, category_id FROM list.todos`);
  const dispose = async () => {
    await started[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  };
  return { ...started, baseUrl, [Symbol.asyncDispose]: dispose };
}

function start([program = '', ...rest]: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(program, rest, { stdio: 'ignore', env });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return child;
}

/** Starts a program that serves, and waits until it answers. */
async function serve(words: readonly string[], env: NodeJS.ProcessEnv, url: string) {
  const child = start(words, env);
  const answers = () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await answers())) {
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}: ${words.join(' ')}`);
    await sleep(50);
  }
  return {
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function ask(url: string, method: string, body: object, authorization?: string): Promise<string> {
  const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return text;
}
