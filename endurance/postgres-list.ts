// What the list costs on PostgreSQL: node endurance/postgres-list.ts --help
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { signer } from '../conformance/src/sign.ts';
import { testAuth } from '../test/operations/list.ts';
import { scriptFlags } from '../test/script-flags.ts';
import { runProgram, startService } from '../test/start.ts';
import { quantile } from '../test/steadily.ts';
import { temporaryFolder } from '../test/storage/folder.ts';
import { PostgresServer } from '../test/storage/postgres-server.ts';
import { type Ask, asking } from './asking.ts';

const HELP = `Usage: node endurance/postgres-list.ts [flags]

Measures the list of GET /todos on a PostgreSQL server of its own, and prints a line of JSON for each part:

  change   after one write, beside the same on SQLite: milliseconds, medians
  busy     of --few todos, on a quiet server and while another database of it has 20 commits a second
  many     of --many todos: the first list, one after a write, and the memory of the process (Linux)
  crash    a refused POST, a list, a crash of the server, a POST, a list: stale lists and false 304s
  migrate  how long the migration of --todos and --many todos keeps others from the table

  --todos N    default 1000000
  --few N      default 100000
  --many N     default 5000000
  --rounds N   of lists, default 15
  --crashes N  default 50
  --change --busy --crash --migrate   only these parts
  --most       only the part "many"
  --help
`;

const PARTS = ['change', 'busy', 'most', 'crash', 'migrate'] as const;
const flags = scriptFlags(
  HELP,
  { todos: 1_000_000, few: 100_000, many: 5_000_000, rounds: 15, crashes: 50 },
  PARTS,
);
const chosen = PARTS.some((part) => flags[part]);
const wanted = (part: (typeof PARTS)[number]): boolean => !chosen || flags[part];

const COMMITS_PER_SECOND = 20;
const auth = testAuth();
const authorization = `Bearer ${signer(auth)({ role: 'editor' })}`;
process.setMaxListeners(0);
const server = await PostgresServer.start();
let failed = false;
try {
  if (wanted('change')) await measureChange();
  if (wanted('busy')) await measureBusy();
  if (wanted('most')) await measureMany();
  if (wanted('crash')) await measureCrashes();
  if (wanted('migrate')) await measureMigration();
} finally {
  await server[Symbol.asyncDispose]();
}
// The package that starts PostgreSQL sets `exitCode` back to 0.
process.exit(failed ? 1 : 0);

function print(part: string, measured: object): void {
  console.log(JSON.stringify({ part, ...measured }));
}

async function makeDatabase(todos: number): Promise<string> {
  const url = await server.makeDatabase();
  await runProgram(['migrate', '--database', url]);
  await server.execute(
    url,
    `INSERT INTO todos (title, category_id) SELECT 'Todo number ' || i || ' of many', 1 FROM generate_series(1, ${todos}) AS i;
      ANALYZE todos`,
  );
  return url;
}

async function serve(database: string) {
  const service = await startService({ auth, environment: 'production', args: ['--database', database] });
  const ask = asking(service.baseUrl, authorization);
  return Object.assign(ask, {
    pid: service.pid,
    async [Symbol.asyncDispose]() {
      ask[Symbol.dispose]();
      await service[Symbol.asyncDispose]();
    },
  });
}

/** Replaces a todo, then lists: the milliseconds of the list. */
async function afterChange(ask: Ask, todos: number): Promise<number> {
  const id = 1 + Math.floor(Math.random() * todos);
  await ask('PUT', `/todos/${id}`, { title: `Changed ${Math.random()}`, categoryId: 2 });
  return (await ask('GET', '/todos')).ms;
}

async function measureChange(): Promise<void> {
  const { todos, rounds } = flags;
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'todos.db');
  await runProgram(['migrate', '--database', `sqlite:${file}`]);
  fill(file, todos);
  await using sqlite = await serve(`sqlite:${file}`);
  await using postgres = await serve(await makeDatabase(todos));
  const first = {
    sqlite: (await sqlite('GET', '/todos')).ms,
    postgres: (await postgres('GET', '/todos')).ms,
  };
  const took = { sqlite: [] as number[], postgres: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    took.sqlite.push(await afterChange(sqlite, todos));
    took.postgres.push(await afterChange(postgres, todos));
  }
  const [onSqlite, onPostgres] = [quantile(took.sqlite, 0.5), quantile(took.postgres, 0.5)];
  print('change', { todos, first, sqlite: onSqlite, postgres: onPostgres, ratio: onPostgres / onSqlite });
}

async function measureBusy(): Promise<void> {
  await using ask = await serve(await makeDatabase(flags.few));
  const other = await server.makeDatabase();
  await server.execute(other, 'CREATE TABLE ticks (i integer)');
  await ask('GET', '/todos');
  const took = { quiet: [] as number[], busy: [] as number[] };
  for (let round = 0; round < flags.rounds; round += 1) {
    for (let list = 0; list < 5; list += 1) {
      await pause(1_000 / COMMITS_PER_SECOND);
      took.quiet.push((await ask('GET', '/todos')).ms);
    }
    await using _commits = await commitTo(other);
    for (let list = 0; list < 5; list += 1) {
      await pause(1_000 / COMMITS_PER_SECOND);
      took.busy.push((await ask('GET', '/todos')).ms);
    }
  }
  const [quiet, busy] = [quantile(took.quiet, 0.5), quantile(took.busy, 0.5)];
  print('busy', { todos: flags.few, quiet, busy, ratio: busy / quiet });
}

/** Commits in another database until it is disposed. */
async function commitTo(database: string): Promise<AsyncDisposable> {
  const client = new Client(database);
  await client.connect();
  const stop = new AbortController();
  const committing = (async () => {
    while (!stop.signal.aborted) {
      await client.query('INSERT INTO ticks VALUES (1)');
      await pause(1_000 / COMMITS_PER_SECOND);
    }
    await client.end();
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await committing;
    },
  };
}

async function measureMany(): Promise<void> {
  const { many } = flags;
  await using ask = await serve(await makeDatabase(many));
  const first = await ask('GET', '/todos');
  const afterWrite = await afterChange(ask, many);
  const resident =
    Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${ask.pid}/status`, 'utf8'))?.[1]) * 1_024;
  if (first.status !== 200) failed = true;
  print('many', { todos: many, ...first, afterWrite, resident, ratio: resident / first.bytes });
}

async function measureCrashes(): Promise<void> {
  const database = await server.makeDatabase();
  await using service = await startService({
    auth,
    environment: 'production',
    args: ['--database', database],
  });
  const ask = (method: string, init: RequestInit = {}) => {
    const headers = { authorization, 'content-type': 'application/json', ...init.headers };
    return fetch(`${service.baseUrl}/todos`, { ...init, method, headers });
  };
  const add = async (title: string, categoryId = 1): Promise<number> => {
    const answer = await ask('POST', { body: JSON.stringify({ title, categoryId }) });
    await answer.arrayBuffer();
    return answer.status;
  };
  let [stale, falselyUnchanged] = [0, 0];
  for (let round = 0; round < flags.crashes; round += 1) {
    await add('refused', 9);
    const before = await ask('GET');
    await before.arrayBuffer();
    if (round % 2 === 0) await server.crash();
    else await server.killBackend(database);
    while ((await add(`round ${round}`)) !== 201) await pause(5);
    const etag = before.headers.get('etag') ?? '';
    if ((await ask('GET', { headers: { 'if-none-match': etag } })).status === 304) falselyUnchanged += 1;
    const listed = (await (await ask('GET')).json()) as readonly unknown[];
    const [there] = await server.execute(database, 'SELECT count(*)::int AS todos FROM todos');
    if (listed.length !== there?.todos) stale += 1;
  }
  if (stale + falselyUnchanged > 0) failed = true;
  print('crash', { rounds: flags.crashes, stale, falselyUnchanged });
}

/** From the schema before: how long others waited for the table. */
async function measureMigration(): Promise<void> {
  for (const todos of [flags.todos, flags.many]) {
    const url = await makeDatabase(todos);
    await server.execute(
      url,
      `DROP TABLE todo_tombstones, todo_purged CASCADE; DROP FUNCTION todo_changed, todo_removed CASCADE;
        ALTER TABLE todos DROP COLUMN changed; UPDATE todo_schema SET version = 1`,
    );
    const migrated = runProgram(['migrate', '--database', url]);
    let longest = 0;
    let done = false;
    migrated.finally(() => {
      done = true;
    });
    while (!done) {
      const began = performance.now();
      await server.execute(url, 'UPDATE todos SET done = false WHERE id = 1');
      longest = Math.max(longest, performance.now() - began);
    }
    await migrated;
    print('migrate', { todos, longestWriteMs: longest });
  }
}

function fill(path: string, todos: number): void {
  using file = new DatabaseSync(path);
  file.exec(`INSERT INTO todos (title, category_id)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${todos})
    SELECT printf('Todo number %d of many', i), 1 FROM n`);
}
