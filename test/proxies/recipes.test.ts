import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { authentication } from '../../packages/conformance/src/chapters/authentication.ts';
import { issuedTokens } from '../../packages/conformance/src/chapters/issued-tokens.ts';
import { members } from '../../packages/conformance/src/chapters/members.ts';
import { problemDetails } from '../../packages/conformance/src/chapters/problem-details.ts';
import {
  repeatedCreates,
  repeatingCallers,
} from '../../packages/conformance/src/chapters/repeated-creates.ts';
import { sharedList } from '../../packages/conformance/src/chapters/shared-list.ts';
import { tokens } from '../../packages/conformance/src/chapters/tokens.ts';
import { header } from '../../packages/conformance/src/http.ts';
import { signer } from '../../packages/conformance/src/sign.ts';
import { leaveAsFound, type SharedList } from '../../packages/conformance/src/target.ts';
import { page } from '../commands/recipes.ts';
import { auth, sharedListOf } from '../specification/target-of.ts';
import { startDemo } from '../support/demo.ts';
import { freePort, listen } from '../support/folder.ts';
import { noParent } from '../support/given.ts';
import { noNginx, type ReverseProxy, startNginxAsSite } from '../support/proxies.ts';
import { askBy } from '../support/raw.ts';
import { restartBehind, restartHeldBehind } from '../support/restart-behind.ts';
import { startService } from '../support/start.ts';
import { recipes } from './recipes.ts';

const NOTHING = { failures: {}, notOnce: 0, twice: 0 };

const sign = signer(auth);
const service = await startService({ auth });
after(() => service[Symbol.asyncDispose]());
const port = Number(new URL(service.baseUrl).port);

/** The chapters of the conformance suite of which a proxy changes nothing. The others look at heads that it refuses. */
const CHAPTERS: Readonly<Record<string, (target: SharedList) => void>> = {
  'Problem Details': problemDetails,
  Authentication: authentication,
  Tokens: (target) => tokens(target, sign),
  'Issued tokens': (target) => issuedTokens(target, async (name, role) => sign({ sub: name, name, role })),
  'Members of a body': members,
  'Shared list': sharedList,
  'A create that may be repeated': repeatedCreates,
  'Callers who repeat': (target) => repeatingCallers(target, sign),
};

const PASSED = {
  authorization: 'Bearer a.b.c',
  'if-match': '"1", "2"',
  'if-none-match': '*',
  'idempotency-key': '"1"',
  host: 'todos.example',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
};

test('the page for operators names the headers that a proxy passes on', async () => {
  const [, named = ''] =
    /^- \*\*Headers:\*\* (.*?) are passed on\.$/m.exec(await page('behind-a-proxy.md')) ?? [];
  const names = Array.from(named.matchAll(/`(.+?)`/g), ([, name = '']) => name.toLowerCase());
  assert.deepEqual(names, Object.keys(PASSED));
});

for (const name of ['nginx.conf', 'nginx-several.conf'])
  test(`${name} is a site beside others, and takes a token of 12 KB there`, { skip: noNginx() }, async () => {
    await using proxy = await startNginxAsSite(name)(port);
    const { status } = await fetch(`${proxy.url}/todos`, {
      headers: { authorization: `Bearer ${'a'.repeat(12_000)}` },
    });
    assert.equal(status, 401);
  });

for (const { name, start, below, skip, waits, tries, passed } of recipes) {
  if (skip) {
    test(name, { skip });
    continue;
  }

  describe(name, () => {
    test('clients, whose creates have keys, do not notice two restarts, and no change is made twice', {
      skip: !waits && noParent(),
    }, async () => {
      const kill = tries > 1 ? (['SIGKILL'] as const) : [];
      assert.deepEqual(await (waits ? restartBehind(start, 2) : restartHeldBehind(start, kill)), NOTHING);
    });

    describe('changes nothing of', () => {
      let proxy: ReverseProxy;
      before(async () => {
        proxy = await start(port);
      });
      const target: SharedList = {
        ...sharedListOf(service, 'production'),
        get baseUrl() {
          return new URL(proxy.url);
        },
      };
      after(() => leaveAsFound(target).finally(() => proxy[Symbol.asyncDispose]()));
      for (const [chapter, state] of Object.entries(CHAPTERS)) describe(chapter, () => state(target));
    });

    test('the headers that the page names are passed on', async () => {
      const received: IncomingHttpHeaders[] = [];
      await using server = createServer(({ headers }, response) => {
        received.push(headers);
        response.writeHead(204).end();
      });
      await using proxy = await start(await listen(server));
      for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
        await ask(proxy, method, '/todos/1', PASSED);
        const expected: IncomingHttpHeaders = { ...PASSED, ...passed?.(method) };
        const got = received.pop() ?? {};
        assert.deepEqual(
          Object.fromEntries(Object.keys(expected).map((each) => [each, got[each]])),
          expected,
        );
      }
    });

    test('clients are not told how long the service keeps its own connections', async () => {
      await using demo = await startDemo();
      const { headers } = await fetch(`${demo.url}/todos/1`);
      assert.match(headers.get('keep-alive') ?? '', /timeout=75/);
      await using proxy = await start(Number(new URL(demo.url).port));
      const { status, headers: own } = await fetch(`${proxy.url}/todos/1`);
      assert.equal(status, 200);
      assert.doesNotMatch(own.get('keep-alive') ?? '', /timeout=75/);
    });

    if (tries > 1)
      test('reads, and creates with a key, whose connection ended without an answer are repeated; no other change', async () => {
        const heard: (string | undefined)[] = [];
        await using server = createServer(({ method, url, socket }, response) => {
          if (url !== '/') heard.push(method);
          if (url !== '/' && heard.length < tries) socket.resetAndDestroy();
          else response.writeHead(204).end();
        });
        await using proxy = await start(await listen(server));
        /** On a connection that the proxy has kept, if it keeps any. */
        const lost = async (method: string, path: string, headers: OutgoingHttpHeaders = {}) => {
          await ask(proxy, 'GET', '/');
          heard.length = 0;
          const body = /P(OS|U)T/.test(method) ? 'a'.repeat(3_000) : undefined;
          const { status } = await ask(proxy, method, path, headers, body);
          return [method, status < 502 ? status : 'failed', heard.length];
        };
        for (const method of ['GET', 'HEAD', 'OPTIONS'])
          assert.deepEqual(await lost(method, '/todos'), [method, 204, tries]);
        assert.deepEqual(await lost('POST', '/todos', { 'idempotency-key': '1' }), ['POST', 204, tries]);
        assert.deepEqual(await lost('POST', '/todos'), ['POST', 'failed', 1]);
        for (const method of ['PUT', 'DELETE'])
          for (const headers of [{}, { 'if-match': '*' }, { 'idempotency-key': '1' }])
            assert.deepEqual(await lost(method, '/todos/1', headers), [method, 'failed', 1]);
      });

    if (waits)
      test('a read whose kept connection ended without an answer waits until somebody listens again', async () => {
        let ended = false;
        await using server = createServer(({ url, socket }, response) => {
          if (url === '/todos' && !ended) {
            ended = true;
            server.close();
            socket.resetAndDestroy();
          } else response.writeHead(204).end();
        });
        const port = await freePort();
        await once(server.listen(port, '127.0.0.1'), 'listening');
        await using proxy = await start(port);
        const own = { hostname: '127.0.0.1', port: new URL(proxy.url).port };
        const agent = new Agent({ keepAlive: true });
        await askBy(agent, { ...own, path: '/' });
        const asked = askBy(agent, { ...own, path: '/todos' });
        await once(server, 'close');
        // Longer than the tries take when nothing waits between them.
        await pause(1_000);
        server.listen(port, '127.0.0.1');
        assert.equal((await asked).status, 204);
      });

    if (below)
      test('below a path, Location leads to the todo', async () => {
        await using proxy = await below(port);
        const headers = {
          authorization: `Bearer ${sign({ role: 'editor' })}`,
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
        };
        const todo = JSON.stringify({ title: 'Buy milk', categoryId: 1 });
        const made = await ask(proxy, 'POST', '/api/todos', headers, todo);
        const location = header(made, 'location') ?? '';
        assert.match(`${made.status} ${location}`, /^201 \/api\/todos\/\d+$/);
        const read = await ask(proxy, 'GET', location, headers);
        assert.deepEqual([read.status, header(read, 'location')], [200, undefined]);
        assert.equal((await ask(proxy, 'DELETE', location, headers)).status, 204);
      });
  });
}

/** A request on a connection of its own. */
function ask(
  proxy: ReverseProxy,
  method: string,
  path: string,
  headers: OutgoingHttpHeaders = {},
  body?: string,
) {
  const { hostname, port } = new URL(proxy.url);
  return askBy(new Agent(), { hostname, port, method, path, headers }, body);
}
