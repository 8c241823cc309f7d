// What writes on PostgreSQL cost, beside another checkout: node endurance/postgres-writes.ts --help
import { signer } from '../conformance/src/sign.ts';
import { testAuth } from '../test/operations/list.ts';
import { scriptFlags } from '../test/script-flags.ts';
import { startService } from '../test/start.ts';
import { quantile } from '../test/steadily.ts';
import { PostgresServer } from '../test/storage/postgres-server.ts';
import { type Ask, asking } from './asking.ts';

const HELP = `Usage: node endurance/postgres-writes.ts [flags]

Creates and then replaces todos as fast as it goes, in turns on services of this checkout, of this checkout without the
triggers and the index that tell lists what changed, and of another checkout, on one PostgreSQL server that syncs. Prints
the medians of writes a second, and of this checkout by the others.

  --before FOLDER  a checkout with node_modules; without it, the other two are compared
  --clients N      default 16
  --rounds N       default 10
  --seconds S      of each kind of write in a round, default 3
  --unsynced       the server does not wait for its disk
  --help
`;

const { clients, rounds, seconds, unsynced, before } = scriptFlags(
  HELP,
  { clients: 16, rounds: 10, seconds: 3 },
  ['unsynced'],
  ['before'],
);

const UNTRACKED = `DROP TRIGGER todo_changed ON todos; DROP TRIGGER todo_removed ON todos; DROP TRIGGER todo_renumbered ON todos;
  DROP INDEX todos_changed; ALTER TABLE todos ALTER COLUMN changed SET DEFAULT '0'`;

const auth = testAuth();
const authorization = `Bearer ${signer(auth)({ role: 'editor' })}`;
process.setMaxListeners(0);
const server = await PostgresServer.start(`fsync=${unsynced ? 'off' : 'on'}`);
const parts = new AsyncDisposableStack();
let titles = 0;
try {
  const contenders = new Map<string, Contender>([['now', await start()]]);
  contenders.set('untracked', await start({ sql: UNTRACKED }));
  if (before !== undefined) contenders.set('before', await start({ checkout: before }));
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of contenders.values()) {
      contender.created.push(await writeFor(() => contender.create()));
      contender.replaced.push(await writeFor(() => contender.replace()));
    }
  }
  const medians = [...contenders].map(([name, { created, replaced }]) => {
    return [name, { creates: quantile(created, 0.5), replaces: quantile(replaced, 0.5) }] as const;
  });
  const now = medians.find(([name]) => name === 'now')?.[1] ?? { creates: 0, replaces: 0 };
  for (const [name, { creates, replaces }] of medians) {
    const ratios = { creates: now.creates / creates, replaces: now.replaces / replaces };
    console.log(JSON.stringify({ name, creates, replaces, nowByThis: ratios }));
  }
} finally {
  await parts.disposeAsync();
  await server[Symbol.asyncDispose]();
}
// The package that starts PostgreSQL sets `exitCode` back to 0.
process.exit(0);

interface Contender {
  readonly create: () => Promise<boolean>;
  readonly replace: () => Promise<boolean>;
  /** A second, of each round. */
  readonly created: number[];
  readonly replaced: number[];
}

async function start({ checkout, sql }: { checkout?: string; sql?: string } = {}): Promise<Contender> {
  const database = await server.makeDatabase();
  const service = parts.use(
    await startService({
      auth,
      environment: 'production',
      args: ['--database', database],
      ...(checkout !== undefined && { checkout }),
    }),
  );
  if (sql !== undefined) await server.execute(database, sql);
  const ask = parts.use(asking(service.baseUrl, authorization));
  let todos = 0;
  return {
    created: [],
    replaced: [],
    async create() {
      const created = await written(ask, 'POST', '/todos', 201);
      if (created) todos += 1;
      return created;
    },
    replace: () => written(ask, 'PUT', `/todos/${1 + Math.floor(Math.random() * todos)}`, 204),
  };
}

/** A machine that is too busy has a write refused; that is none, and is said. */
async function written(ask: Ask, method: string, path: string, wanted: number): Promise<boolean> {
  titles += 1;
  const { status } = await ask(method, path, { title: `Todo number ${titles}`, categoryId: 1 });
  if (status !== wanted) console.error(`${method} ${path} was answered ${status}`);
  return status === wanted;
}

/** How many writes a second all clients together make. */
async function writeFor(write: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  let made = 0;
  const client = async (): Promise<void> => {
    while (performance.now() - began < seconds * 1_000) {
      if (await write()) made += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (made * 1_000) / (performance.now() - began);
}
