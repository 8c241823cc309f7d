import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import dns from 'node:dns/promises';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, isIPv6 } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { faultAnswers } from '../../src/http/fault-answers.ts';
import { readConfig } from '../../src/server/config.ts';
import { connectionsFor, freeDescriptors } from '../../src/server/descriptors.ts';
import { openListener } from '../../src/wire/listener.ts';
import { type Demo, PUBLIC_LIMITS, startDemo } from '../support/demo.ts';
import { noMounts } from '../support/folder.ts';
import { type List, startList } from '../support/list.ts';
import { scrape, valuesOf } from '../support/prometheus.ts';
import { Connection } from '../support/raw.ts';
import { PROGRAM, untilServing } from '../support/start.ts';

const GET = 'GET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n';

/** What the log says about connections: event and listener. */
function toldBy(list: List): unknown[] {
  return list.lines(/^connections-/).map(({ event, listener }) => [event, listener]);
}

test('a connection beyond the limit is counted for its listener, and said once [D13]', async () => {
  await using list = await startList({ env: { TODO_ADMIN_PORT: '0', TODO_MAX_CONNECTIONS: '2' } });
  await using first = await Connection.open(list.url);
  await using second = await Connection.open(list.url);
  // Who has asked once may be silent for longer.
  for (const member of [first, second]) {
    member.socket.write(GET);
    await member.until('401 Unauthorized');
  }
  for (let more = 0; more < 3; more += 1) {
    await using late = await Connection.open(list.url);
    await late.closed();
  }
  const exposition = await scrape(list.adminUrl);
  const figures = (name: string) =>
    ['public', 'admin'].map((listener) => valuesOf(exposition, name, { listener })[0]);
  assert.deepEqual(figures('todo_open_connections'), [2, 1]);
  assert.deepEqual(figures('todo_connections_limit'), [2, 100]);
  assert.deepEqual(figures('todo_connections_refused_total'), [3, 0]);
  assert.deepEqual(toldBy(list), [['connections-full', 'public']]);
});

test('the admin listener counts and says for itself [D13]', async () => {
  await using list = await startList({ env: { TODO_ADMIN_PORT: '0' } });
  const crowd = await Promise.all(Array.from({ length: 101 }, () => Connection.open(list.adminUrl)));
  await Promise.race(crowd.map((one) => one.closed()));
  for (const one of crowd) await one[Symbol.asyncDispose]();
  assert.deepEqual(toldBy(list), [['connections-full', 'admin']]);
  let counted: number | undefined;
  while (counted === undefined) {
    const exposition = await scrape(list.adminUrl).catch(() => undefined);
    counted = exposition && valuesOf(exposition, 'todo_connections_refused_total', { listener: 'admin' })[0];
  }
  assert.ok(counted >= 1);
});

test('one connection too many is closed, and the others are served as before [D13]', async () => {
  await using demo = await startDemo({ limits: { maxConnections: 3 } });
  const members = await Promise.all([1, 2, 3].map(() => Connection.open(demo.url)));
  for (const member of members) member.socket.write(GET);
  await Promise.all(members.map((member) => member.until('\r\n\r\n{')));

  await using late = await Connection.open(demo.url);
  late.socket.write(GET);
  await late.closed();
  assert.equal(late.received(), '');

  for (const member of members) member.socket.write(GET.replace('todos/1', 'todos/2'));
  await Promise.all(members.map((member) => member.until('404 Not Found')));
  for (const member of members) await member[Symbol.asyncDispose]();
});

test('a place that becomes free is given to the next', async () => {
  await using demo = await startDemo({ limits: { maxConnections: 1 } });
  const first = await Connection.open(demo.url);
  first.socket.write(GET);
  await first.until('200 OK');
  await first[Symbol.asyncDispose]();
  for (;;) {
    await using next = await Connection.open(demo.url);
    next.socket.write(GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    await next.closed();
    if (next.received().startsWith('HTTP/1.1 200 OK')) return;
    assert.equal(next.received(), '');
  }
});

test('a flood of 1,000 connections that come and go leaves the service as it was', async () => {
  await using demo = await startDemo({ limits: { maxConnections: 100 } });
  await using steady = await Connection.open(demo.url);
  steady.socket.write(GET);
  await steady.until('200 OK');
  for (let round = 0; round < 10; round += 1) {
    const crowd = await Promise.all(Array.from({ length: 100 }, () => Connection.open(demo.url)));
    for (const one of crowd) one.socket.resetAndDestroy();
    await Promise.all(crowd.map((one) => one.closed()));
  }
  steady.socket.write(GET.replace('todos/1', 'todos/2'));
  await steady.until('404 Not Found');
});

/** Serves the error demo as a process that may have so many files and sockets open. */
function spawnLimited(openFiles: number) {
  const limited = ['-c', `ulimit -n ${openFiles} && exec "$0" "$@"`, process.execPath, PROGRAM];
  const env = { ...process.env, TODO_ENVIRONMENT: 'production', TODO_ADMIN_PORT: '0' };
  return spawn('sh', [...limited, 'serve', '--profile', 'error-demo', '--port', '0'], { env });
}

test('with too few descriptors for all connections fewer are taken, and probes are answered [D16]', {
  timeout: 60_000,
}, async () => {
  await using service = await untilServing(spawnLimited(300));
  const { wanted, taken } = JSON.parse(/.*"connections-reduced".*/.exec(service.stdout())?.[0] ?? '{}');
  assert.equal(wanted, 1_000);
  assert.ok(taken >= 1 && taken < 136, `${taken} are taken`);
  const adminUrl = /"adminUrl":"([^"]+)"/.exec(service.stdout())?.[1] ?? '';
  const crowd = await Promise.all(Array.from({ length: 300 }, () => Connection.open(service.baseUrl)));
  const { ok } = await fetch(`${adminUrl}/live`);
  const figure = async (name: string) =>
    valuesOf(await scrape(adminUrl), `todo_connections_${name}`, { listener: 'public' })[0] ?? 0;
  // The kernel connects before the service accepts.
  while ((await figure('refused_total')) < 300 - taken);
  const figures = [await figure('limit'), await figure('refused_total')];
  for (const one of crowd) one.socket.destroy();
  assert.deepEqual([ok, ...figures], [true, taken, 300 - taken]);
});

test('connectionsFor leaves descriptors for PostgreSQL and the admin listener [D16]', async () => {
  const trust = { TODO_AUTH_ISSUER: 'https://issuer.example', TODO_AUTH_AUDIENCE: 'todo-service' };
  const taken = async (env: object, free = 1_000) => {
    const { config } = await readConfig({}, { ...trust, TODO_MAX_CONNECTIONS: '900', ...env });
    return connectionsFor(config, free);
  };
  const postgres = { TODO_DATABASE: 'postgres://a/b', TODO_DATABASE_CONNECTIONS: '40' };
  assert.equal(await taken({}, 964), 900);
  assert.equal(await taken({}, 963), 899);
  assert.equal(await taken({}, 65), 1);
  assert.equal(await taken(postgres), 896);
  assert.equal(await taken({ ...postgres, TODO_ADMIN_PORT: '9090' }), 796);
});

test('with no descriptor for a connection the start ends with 78 and says how many are missing [D16]', async () => {
  const child = spawnLimited(180);
  const said = text(child.stderr);
  const [code] = await once(child, 'exit');
  assert.match(
    await said,
    /the limit of open files .* must leave one for a connection, received \d+ too few/,
  );
  assert.equal(code, 78);
});

/** The exit code of code that uses `freeDescriptors`, started by words of a shell. */
async function exitOf(code: string, shell: string, by: readonly string[] = []): Promise<number> {
  const script = `import { openSync } from 'node:fs';
    import { freeDescriptors } from ${JSON.stringify(import.meta.resolve('../../src/server/descriptors.ts'))};
    ${code}`;
  const node = [process.execPath, '--input-type=module', '--eval', script];
  const [command = '', ...words] = [...by, 'sh', '-c', `${shell} && exec "$0" "$@"`, ...node];
  const [exit] = await once(spawn(command, words), 'exit');
  return exit;
}

test('freeDescriptors says 0 where no descriptor is left to look with [D16]', async () => {
  const whenFull = `try { for (;;) openSync('/dev/null'); } catch {}
    process.exitCode = 40 + freeDescriptors();`;
  assert.equal(await exitOf(whenFull, 'ulimit -n 40'), 40);
});

test('freeDescriptors knows no limit where the system does not show what is open [D16]', {
  skip: noMounts(),
}, async () => {
  const whenHidden = 'process.exitCode = freeDescriptors() === Infinity ? 40 : 41;';
  assert.equal(await exitOf(whenHidden, 'mount -t tmpfs none /proc', ['unshare', '--mount']), 40);
});

test('freeDescriptors looks up the name of no peer', () => {
  freeDescriptors();
  assert.equal(Reflect.get(process.report, 'excludeNetwork'), true);
});

/** Whether a listener was said to be full or free, and how many connections it refused. */
function episodesIn({ log }: Demo): unknown[] {
  return log.map(({ event, refused }) => [event, refused]);
}

test('an episode ends 60 s after the last refused connection [D13]', async ({ mock }) => {
  await using demo = await startDemo();
  const refuse = () => demo.server.emit('drop');
  mock.timers.enable({ apis: ['setTimeout'] });
  refuse();
  mock.timers.tick(59_000);
  refuse();
  mock.timers.tick(59_999);
  assert.deepEqual(episodesIn(demo), [['connections-full', undefined]]);
  mock.timers.tick(1);
  refuse();
  assert.deepEqual(episodesIn(demo), [
    ['connections-full', undefined],
    ['connections-free', 2],
    ['connections-full', undefined],
  ]);
  mock.timers.reset();
});

test('a stop ends an episode that is under way [D13]', async () => {
  const demo = await startDemo();
  demo.server.emit('drop');
  await demo[Symbol.asyncDispose]();
  assert.deepEqual(episodesIn(demo), [
    ['connections-full', undefined],
    ['connections-free', 1],
  ]);
});

for (const [addresses, taken] of [
  [['::1', '127.0.0.1'], '127.0.0.1'],
  [['127.0.0.3', '127.0.0.2'], '127.0.0.3'],
] as const) {
  test(`of a name that has ${addresses.join(' and ')}, ${taken} alone is listened on [D13]`, async ({
    mock,
  }) => {
    const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    mock.method(dns, 'lookup', async () => found);
    syncBuiltinESMExports();
    const limits = { ...PUBLIC_LIMITS, maxConnections: 3 };
    const listener = openListener({ name: 'public', answers: faultAnswers(), logEvent() {}, limits });
    const { server } = await listener.listen(() => {}, { host: 'localhost', port: 0, setting: 'none' });
    mock.reset();
    syncBuiltinESMExports();
    const { address } = server.address() as AddressInfo;
    const { limit } = listener.figures;
    await listener.drain(0);
    assert.deepEqual([address, limit], [taken, 3]);
  });
}
