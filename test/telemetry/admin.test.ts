import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import manifest from '../../package.json' with { type: 'json' };
import { assertProblem } from '../../packages/conformance/src/problem.ts';
import { makeTodo, send } from '../../packages/conformance/src/target.ts';
import { adminRoutes, databaseAnswers, watchReadiness } from '../../src/server/admin.ts';
import { readConfig } from '../../src/server/config.ts';
import { openService } from '../../src/server/service.ts';
import {
  OutcomeUnknown,
  StoreBroken,
  StoreNotWritable,
  StoreUnavailable,
} from '../../src/shared-list/store.ts';
import { startDemo, targetOf } from '../support/demo.ts';
import { freePort, listen } from '../support/folder.ts';
import { startList } from '../support/list.ts';
import { startService } from '../support/start.ts';

const list = await startList({ env: { TODO_ADMIN_PORT: '0' } });
after(() => list[Symbol.asyncDispose]());
// The thread that writes may take longer to start than /ready waits.
await makeTodo(list.target);

describe('Admin listener', { concurrency: true }, () => {
  for (const [path, body] of [
    ['/live', { status: 'live' }],
    ['/ready', { status: 'ready' }],
    [
      '/version',
      {
        name: 'todo-service',
        version: manifest.version,
        node: process.version,
        profile: 'shared-list',
        environment: 'production',
      },
    ],
  ] as const) {
    test(`${path} answers 200 while all is well, and is a 404 on the public port`, async () => {
      let reply = await fetch(`${list.adminUrl}${path}`);
      // A busy machine may be late, which is none.
      while ((await reply.clone().text()).includes('not answer in time')) reply = await fetch(reply.url);
      assert.equal(reply.status, 200);
      assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8');
      assert.equal(reply.headers.get('cache-control'), 'no-store');
      assert.deepEqual(await reply.json(), body);
      assertProblem(await list.send(`GET ${path}`), 404);
    });
  }

  test('a metrics page that throws is a 500 problem and one line in the log', async () => {
    const metrics = () => Promise.reject(new Error('secret'));
    await using demo = await startDemo({
      routes: adminRoutes({ ready: async () => true, metrics, version: {} }),
    });
    const reply = await send({ ...targetOf(demo.url), profile: 'error-demo' }, 'GET /metrics');
    const { traceId } = assertProblem(reply, 500);
    assert.deepEqual(
      demo.log.map((line) => [line.event, line.route, line.traceId]),
      [['crash', '/metrics', traceId]],
    );
  });

  test('/ready says that keys are missing until the issuer answers, and the log that it was not ready and is', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const keys = JSON.stringify({ keys: [publicKey.export({ format: 'jwk' })] });
    let answers = false;
    const issuer = createServer((_request, response) => response.writeHead(answers ? 200 : 500).end(keys));
    const port = await listen(issuer.unref());
    const env = {
      TODO_ADMIN_PORT: '0',
      TODO_AUTH_SECRET_FILE: '',
      TODO_AUTH_JWKS_URL: `http://127.0.0.1:${port}/keys`,
    };
    await using without = await startList({ env });
    const reply = await fetch(`${without.adminUrl}/ready`);
    assert.equal(reply.status, 503);
    assert.match(((await reply.json()) as { detail: string }).detail, /^no keys yet from http:\/\/127/);
    // Its first answer may come later than that of /ready.
    while (without.lines(/^keys-unavailable$/).length === 0) await pause(10);
    answers = true;
    while ((await fetch(`${without.adminUrl}/ready`)).status !== 200) await pause(50);
    const metrics = await fetch(`${without.adminUrl}/metrics`);
    assert.equal(metrics.headers.get('cache-control'), 'no-store');
    assert.match(await metrics.text(), /\ntodo_keys_last_fetch_successful 1\n/);
    const about = (what: RegExp) => without.lines(what).map(({ event }) => event);
    assert.deepEqual(about(/^keys-/), ['keys-unavailable', 'keys-available']);
    // On a busy machine the database is a second reason.
    assert.deepEqual([...new Set(about(/ready$/))], ['not-ready', 'ready']);
  });

  test('the log has each reason why the service is not ready, and its end', async () => {
    const answers: (true | string)[] = [true, 'refused', 'refused', 'password', true, true];
    const log: unknown[] = [];
    const ready = watchReadiness([() => answers.shift() ?? true], (event) => void log.push(event));
    while (answers.length > 0) await ready();
    assert.deepEqual(log, [
      { event: 'not-ready', reason: 'refused' },
      { event: 'not-ready', reason: 'password' },
      { event: 'ready' },
    ]);
  });

  test('/ready says that the service starts while it opens its database', async () => {
    await using database = createTcpServer();
    const [asked, port] = [once(database, 'connection'), await freePort()];
    const env = {
      ...{
        TODO_DATABASE: `postgres://127.0.0.1:${await listen(database)}/todos`,
        TODO_ADMIN_PORT: `${port}`,
      },
      ...{ TODO_AUTH_ISSUER: 'https://issuer.example', TODO_AUTH_AUDIENCE: 'todo-service' },
    };
    const { config } = await readConfig({}, env);
    const opened = openService(config, { logEvent() {}, output: { dropped: () => 0 } });
    const [socket] = (await Promise.race([asked, opened])) as [Socket];
    const reply = await fetch(`http://127.0.0.1:${port}/ready`);
    const { detail } = (await reply.json()) as { detail: string };
    // `ErrorResponse`, https://www.postgresql.org/docs/current/protocol-message-formats.html
    const fields = Buffer.from('SFATAL\0C28000\0Mnobody is let in\0\0');
    socket.resume().end(Buffer.concat([Buffer.from([0x45, 0, 0, 0, fields.length + 4]), fields]));
    await assert.rejects(opened, /nobody is let in$/);
    assert.deepEqual([reply.status, detail], [503, 'The service is starting.']);
  });

  test('/ready turns before anything else when the service stops, /live stays until the end, and TODO_SHUTDOWN_DELAY_SECONDS goes on serving', async () => {
    const delayed = (seconds: string) => {
      const env = { TODO_ADMIN_PORT: '0', TODO_SHUTDOWN_DELAY_SECONDS: seconds };
      return startService({ profile: 'error-demo', env });
    };
    await using service = await delayed('600');
    const { adminUrl } = service;
    assert.equal((await fetch(`${adminUrl}/ready`)).status, 200);
    process.kill(service.pid, 'SIGTERM');
    while (!service.stdout().includes('"stopping"')) await pause(10);
    const reply = await fetch(`${adminUrl}/ready`);
    assert.equal(reply.status, 503);
    assert.equal(((await reply.json()) as { detail: string }).detail, 'The service is stopping.');
    assert.match(await (await fetch(`${adminUrl}/metrics`)).text(), /\ntodo_ready 0\n/);
    assert.equal((await fetch(`${adminUrl}/live`)).status, 200);
    const { status, headers } = await fetch(`${service.baseUrl}/todos/1`);
    assert.deepEqual([status, headers.get('connection')], [200, 'keep-alive']);
    await service.stop('SIGKILL');
    await using soon = await delayed('1');
    assert.equal(await soon.stop(), 0);
  });

  test('a database that does not answer, or not in time, is a reason', async () => {
    assert.equal(await databaseAnswers(async () => {})(), true);
    const asItShould = 'The database does not answer as it should: why.';
    for (const [error, reason] of [
      [new Error('secret'), 'The database does not answer.'],
      [new StoreUnavailable('why'), asItShould],
      [new StoreBroken('why'), asItShould],
      [new OutcomeUnknown('why'), asItShould],
      [new StoreNotWritable('why'), 'The database takes no writes: it is read-only or a standby.'],
    ] as const)
      assert.equal(await databaseAnswers(() => Promise.reject(error))(), reason);
    const hanging = databaseAnswers(() => new Promise(() => {}));
    assert.equal(await hanging(), 'The database does not answer in time.');
  });
});
