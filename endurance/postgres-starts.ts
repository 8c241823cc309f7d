import { signer } from '../conformance/src/sign.ts';
import { testAuth } from '../test/operations/list.ts';
import { scriptFlags } from '../test/script-flags.ts';
import { startService } from '../test/start.ts';
import { PostgresServer } from '../test/storage/postgres-server.ts';

const HELP = `Usage: node endurance/postgres-starts.ts [flags]

Starts services together on an empty PostgreSQL database. All must serve and see each other's todos, and there are two
categories; else the exit code is 1.

  --rounds N     default 5
  --services N   of each round, default 20
  --help
`;

const { rounds, services: count } = scriptFlags(HELP, { rounds: 5, services: 20 });
// Each program that is started listens for the end of this one.
process.setMaxListeners(0);
const auth = testAuth();
const authorization = `Bearer ${signer(auth)({ role: 'editor' })}`;
const server = await PostgresServer.start('max_connections=500');

/** Each service adds a todo; what every one of them lists then, and the categories. */
async function round(): Promise<readonly unknown[]> {
  const database = await server.makeDatabase();
  await using services = new AsyncDisposableStack();
  const all = await Promise.all(
    Array.from({ length: count }, async () =>
      services.use(await startService({ auth, environment: 'production', env: { TODO_DATABASE: database } })),
    ),
  );
  const ask = (url: string, init: RequestInit = {}) =>
    fetch(`${url}/todos`, { ...init, headers: { authorization, 'content-type': 'application/json' } });
  for (const { baseUrl } of all) await ask(baseUrl, { method: 'POST', body: '{"title":"a","categoryId":2}' });
  const counts = await Promise.all(
    all.map(async ({ baseUrl }) => ((await (await ask(baseUrl)).json()) as readonly unknown[]).length),
  );
  const categories = await server.execute(database, 'SELECT id, name FROM categories ORDER BY id');
  return [[...new Set(counts)], categories.map(({ id, name }) => `${id} ${name}`)];
}

const wanted = JSON.stringify([[count], ['1 Work', '2 Life']]);
let wrong = 0;
try {
  for (let number = 1; number <= rounds; number += 1) {
    const outcome = JSON.stringify(await round());
    console.log(`round ${number}: ${outcome}`);
    if (outcome !== wanted) wrong += 1;
  }
} finally {
  await server[Symbol.asyncDispose]();
}
// The package that starts PostgreSQL sets `exitCode` back to 0.
process.exit(wrong === 0 ? 0 : 1);
