import { after, describe, test } from 'node:test';
import { checksFor } from '../../conformance/src/checks.ts';
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

  const env = { TODO_DATABASE: await server.makeDatabase() };
  const shared = services.use(await startService({ profile: 'shared-list', environment, auth, env }));
  hold(`shared-list on PostgreSQL, ${environment}`, sharedListOf(shared, environment));

  const demo = services.use(await startService({ profile: 'error-demo', environment }));
  hold(`error-demo, ${environment}`, errorDemoOf(demo, environment));
}

/** Every check of the conformance suite as a test of its own. */
function hold(name: string, target: Target): void {
  describe(name, () => {
    after(() => leaveAsFound(target));
    for (const [group, checks] of Map.groupBy(checksFor(target), (check) => check.group)) {
      describe(group, () => {
        for (const { name: sentence, run } of checks) test(sentence, run);
      });
    }
  });
}
