import assert from 'node:assert/strict';
import { chmod, chown, copyFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { runProgram } from '../start.ts';
import { openPool } from './postgres-pool.ts';
import { PASSWORD, PostgresServer } from './postgres-server.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { addedTo, listed } from './todos.ts';

const CERTIFICATES = new URL('./tls/', import.meta.url).pathname;

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());
/** Gives the server its certificate, which is for `localhost`. */
async function switchOnTls(): Promise<void> {
  const url = await server.makeDatabase();
  const folder = String((await server.execute(url, 'SHOW data_directory'))[0]?.data_directory);
  const { uid, gid } = await stat(folder);
  for (const name of ['test-only-server.pem', 'test-only-server.key']) {
    await copyFile(join(CERTIFICATES, name), join(folder, name));
    await chmod(join(folder, name), 0o600);
    await chown(join(folder, name), uid, gid);
  }
  await server.execute(url, "ALTER SYSTEM SET ssl_cert_file = 'test-only-server.pem'");
  await server.execute(url, "ALTER SYSTEM SET ssl_key_file = 'test-only-server.key'");
  await server.execute(url, 'ALTER SYSTEM SET ssl = on');
  await server.execute(url, 'SELECT pg_reload_conf()');
  const isOn = async () => (await server.execute(url, 'SHOW ssl'))[0]?.ssl === 'on';
  for (let tries = 0; tries < 1_000 && !(await isOn()); tries += 1) await sleep(10);
  assert.ok(await isOn(), 'PostgreSQL must take the certificate of the test');
}

/** A connection string with another host and parameters for TLS. */
function reach(url: string, host: string, mode?: string, root?: string): string {
  const reached = new URL(url);
  reached.hostname = host;
  if (mode !== undefined) reached.searchParams.set('sslmode', mode);
  if (root !== undefined) reached.searchParams.set('sslrootcert', join(CERTIFICATES, root));
  return reached.href;
}

/** Whether the connections of the service use TLS: one value when all do the same. */
async function encrypted(url: string): Promise<readonly unknown[]> {
  const sql = `SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
    WHERE datname = current_database() AND application_name = 'todo-service'`;
  return (await server.execute(url, sql)).map(({ ssl }) => ssl);
}

test('a server without TLS is refused', async () => {
  const url = reach(await server.makeDatabase(), 'localhost', 'verify-full', 'right-root.pem');
  await assert.rejects(openPostgresStore(url, { patienceMs: 0 }), {
    name: 'StoreNotOpened',
    message: /: The server does not support SSL connections$/,
  });
});

describe('a server with TLS', () => {
  before(switchOnTls);

  test('with verify-full and the right root certificate every connection is encrypted', async () => {
    const url = await server.makeDatabase();
    await using store = await openPostgresStore(reach(url, 'localhost', 'verify-full', 'right-root.pem'));
    await addedTo(store, 'a');
    assert.equal((await listed(store)).length, 1);
    assert.deepEqual(await encrypted(url), [true]);
  });

  for (const mode of ['disable', undefined]) {
    test(`with ${mode ?? 'no mode'} no connection is encrypted, whatever the server offers`, async () => {
      const url = await server.makeDatabase();
      await using store = await openPostgresStore(reach(url, 'localhost', mode));
      await addedTo(store, 'a');
      assert.deepEqual(await encrypted(url), [false]);
    });
  }

  test('what is given up is cancelled over TLS, too', async () => {
    const url = await server.makeDatabase();
    await using proxy = await TcpProxy.start(Number(new URL(url).port));
    const reached = reach(proxy.through(url), 'localhost', 'verify-full', 'right-root.pem');
    await using pool = openPool(reached, { answerMs: 500 });
    await assert.rejects(pool.read({ text: 'SELECT pg_sleep(600)' }), /no answer in 500 ms/);
    while ((await server.backends(url)).length > 0) await sleep(10);
    const asked = proxy.firsts.map((first) => first.toString('hex'));
    assert.ok(asked.length >= 2, 'one connection for the statement, one for the request to cancel it');
    assert.deepEqual([...new Set(asked)], ['0000000804d2162f'], 'each asks for TLS before it says anything');
  });

  const refused: readonly [why: string, host: string, root: string | undefined, message: RegExp][] = [
    ['another root certificate', 'localhost', 'wrong-root.pem', /unable to verify the first certificate/],
    ['the roots of the machine alone', 'localhost', undefined, /unable to verify the first certificate/],
    [
      'another name than that of the certificate',
      '127.0.0.1',
      'right-root.pem',
      /IP: 127\.0\.0\.1 is not in the cert's list/,
    ],
    [
      'a root certificate that is not there',
      'localhost',
      'no-root.pem',
      /ENOENT: no such file or directory, open '.*no-root\.pem'/,
    ],
  ];

  for (const [why, host, root, message] of refused) {
    test(`with verify-full and ${why}, one line says so and the exit code is 69`, async () => {
      const url = await server.makeDatabase();
      const database = reach(url.replace(`:${PASSWORD}@`, ':secret@'), host, 'verify-full', root);
      const { code, stdout, stderr } = await runProgram(['migrate'], { env: { TODO_DATABASE: database } });
      assert.equal(code, 69);
      assert.equal(stdout, '');
      assert.match(stderr, message);
      assert.match(stderr, /^Cannot migrate: Cannot open the database.*\n$/);
      assert.doesNotMatch(stderr, /secret/);
    });
  }
});
