import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { header } from '../../packages/conformance/src/http.ts';
import { errorDemoRoutes } from '../../src/error-demo.ts';
import { documentRoutes } from '../../src/server/reference-page.ts';
import { sharedListRoutes } from '../../src/shared-list/endpoints.ts';
import { openSqliteStore } from '../storage/sqlite-store.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startList } from '../support/list.ts';

const parts = new AsyncDisposableStack();
after(() => parts.disposeAsync());

const logEvent = () => {};
const folder = parts.use(await temporaryFolder());
const store = parts.use(await openSqliteStore(`${folder.path}/todos.db`));

/** The routes of each profile, and what its own say to caches. */
const PROFILES = {
  'shared-list': { routes: sharedListRoutes(store, logEvent), said: 'private, no-cache' },
  'error-demo': { routes: errorDemoRoutes(logEvent), said: 'no-cache' },
} as const;

/** It never succeeds (contract Endpoints B, GET /crash). */
const ALWAYS_FAILS = '/crash';

for (const [profile, { routes, said }] of Object.entries(PROFILES)) {
  for (const environment of ['production', 'development']) {
    test(`every success of a GET and HEAD says what caches may do · ${profile}, ${environment} [P8]`, async () => {
      await using service = await startList({
        env: { TODO_PROFILE: profile, TODO_ENVIRONMENT: environment },
      });
      if (profile === 'shared-list')
        await service.send('POST /todos', { json: { title: 'Buy milk', categoryId: 1 } });
      const documents =
        environment === 'development' && isDocumented(profile) ? documentRoutes(profile, logEvent) : [];
      const asked = [
        ...routes.map((route) => ({ ...route, said })),
        ...documents.map((route) => ({ ...route, said: 'no-cache' })),
      ].filter(({ method, path }) => method === 'GET' && path !== ALWAYS_FAILS);
      assert.ok(asked.length > documents.length);
      for (const { path, said } of asked) {
        // The list and todos are the same for everybody.
        const vary = { '/me': 'Authorization', '/todos': 'Accept-Encoding' }[path];
        for (const method of ['GET', 'HEAD']) {
          for (const coding of ['identity', 'gzip', 'gzip']) {
            const line = `${method} ${path.replace(':id', '1')}`;
            const reply = await service.send(line, { headers: { 'Accept-Encoding': coding } });
            assert.equal(reply.status, 200, line);
            assert.equal(header(reply, 'cache-control'), said, line);
            assert.equal(header(reply, 'vary'), vary, line);
          }
        }
      }
    });
  }
}

function isDocumented(profile: string): profile is keyof typeof PROFILES {
  return Object.hasOwn(PROFILES, profile);
}
