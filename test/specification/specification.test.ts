import { after } from 'node:test';
import { startService } from '../start.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { specification } from './suites.ts';
import { auth, errorDemoOf, sharedListOf } from './target-of.ts';

const services = new AsyncDisposableStack();
after(() => services.disposeAsync());

const server = services.use(await PostgresServer.start());

for (const environment of ['development', 'production'] as const) {
  const list = services.use(await startService({ profile: 'shared-list', environment, auth }));
  specification(`shared-list, ${environment}`, sharedListOf(list, environment));

  const env = { TODO_DATABASE: await server.makeDatabase() };
  const shared = services.use(await startService({ profile: 'shared-list', environment, auth, env }));
  specification(`shared-list on PostgreSQL, ${environment}`, sharedListOf(shared, environment));

  const demo = services.use(await startService({ profile: 'error-demo', environment }));
  specification(`error-demo, ${environment}`, errorDemoOf(demo, environment));
}
