import { after } from 'node:test';
import { send } from '../../packages/conformance/src/target.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { startService } from '../support/start.ts';
import { auth, hold, sharedListOf } from './target-of.ts';

const parts = new AsyncDisposableStack();
after(() => parts.disposeAsync());

const server = parts.use(await PostgresServer.start());
const env = { TODO_DATABASE: await server.makeDatabase() };
const service = parts.use(await startService({ environment: 'production', auth, env }));
// A busy machine may take longer to open its first connections than a request waits.
const first = sharedListOf(service, 'production');
for (const path of ['/todos', '/todos/1'])
  while ((await send(first, `GET ${path}`, { token: first.tokens.reader })).status === 503);
// What development adds knows no database.
hold('shared-list on PostgreSQL, production', sharedListOf(service, 'production'));
