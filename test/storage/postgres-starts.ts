// Starts services together on an empty PostgreSQL database, and says what came of it:
// node test/storage/postgres-starts.ts --rounds 5 --services 20
import { parseArgs } from 'node:util';
import { testAuth } from '../operations/list.ts';
import { signer } from '../sign.ts';
import { startService } from '../start.ts';
import { PostgresServer } from './postgres-server.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, services: { type: 'string', default: '20' } },
});
// Each program that is started listens for the end of this one.
process.setMaxListeners(0);
const auth = testAuth();
const authorization = `Bearer ${signer(auth)({ role: 'editor' })}`;
await using server = await PostgresServer.start('max_connections=500');

/** Each service adds a todo; what every one of them lists then, and the categories. */
async function round(): Promise<readonly unknown[]> {
  const database = await server.makeDatabase();
  await using services = new AsyncDisposableStack();
  const all = await Promise.all(
    Array.from({ length: Number(values.services) }, async () =>
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

const wanted = JSON.stringify([[Number(values.services)], ['1 Work', '2 Life']]);
for (let count = 1; count <= Number(values.rounds); count += 1) {
  const outcome = JSON.stringify(await round());
  console.log(`round ${count}: ${outcome}`);
  if (outcome !== wanted) process.exitCode = 1;
}
