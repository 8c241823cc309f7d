import { after } from 'node:test';
import { startService } from '../start.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { auth, hold, sharedListOf } from './target-of.ts';

const parts = new AsyncDisposableStack();
after(() => parts.disposeAsync());

const server = parts.use(await PostgresServer.start());
const env = { TODO_DATABASE: await server.makeDatabase() };
const service = parts.use(await startService({ environment: 'production', auth, env }));
// What development adds knows no database.
hold('shared-list on PostgreSQL, production', sharedListOf(service, 'production'));
