import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { json } from '../../packages/conformance/src/http.ts';
import { send } from '../../packages/conformance/src/target.ts';
import { startService } from '../support/start.ts';
import { auth, errorDemoOf, hold, sharedListOf } from './target-of.ts';

const services = new AsyncDisposableStack();
after(() => services.disposeAsync());

// All of them first: what a name leaves of one would be through, and so would this file, before the next has started.
// The list in production is that of `postgres.test.ts`.
const [list, fresh, used] = await Promise.all([
  startService({ environment: 'development', auth }),
  startService({ profile: 'error-demo', environment: 'development' }),
  startService({ profile: 'error-demo', environment: 'production' }),
]);
for (const service of [list, fresh, used]) services.use(service);

hold('shared-list, development', sharedListOf(list, 'development'));
hold('error-demo, development', errorDemoOf(fresh, 'development'));
const inUse = { ...errorDemoOf(used, 'production'), fresh: false };
hold('error-demo that is in use, production', inUse);
test('the todo of an error demo that is in use is left as it was found', async () => {
  assert.deepEqual(json(await send(inUse, 'GET /todos/1')), { id: 1, title: 'Read RFC 9457', done: false });
});
