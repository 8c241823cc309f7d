import { after } from 'node:test';
import { startService } from '../start.ts';
import { auth, errorDemoOf, hold, sharedListOf } from './target-of.ts';

const services = new AsyncDisposableStack();
after(() => services.disposeAsync());

// All of them first: what a name leaves of one would be through, and so would this file, before the next has started.
const started = [];
for (const environment of ['development', 'production'] as const) {
  const list = services.use(await startService({ environment, auth }));
  const demo = services.use(await startService({ profile: 'error-demo', environment }));
  started.push({ environment, list, demo });
}
for (const { environment, list, demo } of started) {
  hold(`shared-list, ${environment}`, sharedListOf(list, environment));
  hold(`error-demo, ${environment}`, errorDemoOf(demo, environment));
}
