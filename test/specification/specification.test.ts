import { after, describe } from 'node:test';
import { stateChecks } from '../../conformance/src/checks.ts';
import { leaveAsFound, type Target } from '../../conformance/src/target.ts';
import { startService } from '../start.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { auth, errorDemoOf, sharedListOf } from './target-of.ts';

const services = new AsyncDisposableStack();
after(() => services.disposeAsync());

const server = services.use(await PostgresServer.start());

for (const environment of ['development', 'production'] as const) {
  const list = services.use(await startService({ profile: 'shared-list', environment, auth }));
  hold(`shared-list, ${environment}`, sharedListOf(list, environment));

  const demo = services.use(await startService({ profile: 'error-demo', environment }));
  hold(`error-demo, ${environment}`, errorDemoOf(demo, environment));
}

// Which database it is makes no difference to what development adds.
const env = { TODO_DATABASE: await server.makeDatabase() };
const shared = services.use(await startService({ environment: 'production', auth, env }));
hold('shared-list on PostgreSQL, production', sharedListOf(shared, 'production'));

/** The conformance suite. */
function hold(name: string, target: Target): void {
  describe(name, () => {
    after(() => leaveAsFound(target));
    stateChecks(target);
  });
}
