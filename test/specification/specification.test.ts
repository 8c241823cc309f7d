import { after } from 'node:test';
import { startService } from '../start.ts';
import { auth, errorDemoOf, hold, sharedListOf } from './target-of.ts';

const services = new AsyncDisposableStack();
after(() => services.disposeAsync());

for (const environment of ['development', 'production'] as const) {
  const list = services.use(await startService({ environment, auth }));
  hold(`shared-list, ${environment}`, sharedListOf(list, environment));

  const demo = services.use(await startService({ profile: 'error-demo', environment }));
  hold(`error-demo, ${environment}`, errorDemoOf(demo, environment));
}
