import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { PostgresServer } from '../storage/postgres-server.ts';
import { temporaryFolder } from '../support/folder.ts';
import { layOutInstances, versionOf } from '../support/instances.ts';
import { noHaproxy, noNginx, startHaproxyOfThree, startNginxOfThree } from '../support/proxies.ts';
import { clientsBehind } from '../support/restart-behind.ts';
import { authVariables } from '../support/start.ts';

const auth = { issuer: 'https://login.example.org', audience: 'todo-service', secret: randomBytes(32) };

/** nginx counts in whole seconds, and leaves out for one who failed: for less than two. */
const UNTIL_TAKEN_BACK_MS = 2_000;

describe('Three instances on one machine', { concurrency: false }, () => {
  let server: PostgresServer;

  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server[Symbol.asyncDispose]());

  for (const [name, startProxy, skip] of [
    ['HAProxy', startHaproxyOfThree, noHaproxy()],
    ['nginx', startNginxOfThree, noNginx()],
  ] as const) {
    test(`behind ${name} one is killed, one is restarted and all are upgraded: no read and no create with a key fails`, {
      skip,
    }, async () => {
      await using folder = await temporaryFolder();
      await using machine = await layOutInstances(3, {
        ...(await authVariables(auth, folder.path)),
        TODO_DATABASE: await server.makeDatabase(),
        TODO_SHUTDOWN_DELAY_SECONDS: '3',
        // Those of the one service: an instance has its own.
        TODO_PORT: '1',
        TODO_ADMIN_PORT: '2',
      });
      const { units, orders } = machine;
      const [, two, three] = units;
      assert.ok(two && three);
      await Promise.all(units.map((unit) => unit.start()));
      assert.deepEqual(
        units.map((unit) => unit.state()),
        ['active', 'active', 'active'],
      );
      await Promise.all(units.map((unit) => unit.ready()));
      await using proxy = await startProxy(units);
      const seen = await clientsBehind(proxy, auth, async (goOn) => {
        await goOn();
        const killed = two.pid();
        process.kill(killed, 'SIGKILL');
        await goOn();
        while (two.pid() === killed) await pause(50);
        await two.ready();
        await pause(UNTIL_TAKEN_BACK_MS);
        await three.stop();
        await three.start();
        await three.ready();
        await pause(UNTIL_TAKEN_BACK_MS);
        await goOn();
        await machine.install('newer');
        orders.length = 0;
        const { code, stderr } = await machine.restart();
        assert.deepEqual([code, stderr], [0, '']);
      });
      assert.deepEqual(seen, { failures: {}, notOnce: 0, twice: 0 });
      assert.deepEqual(
        orders,
        [1, 2, 3].flatMap((number) => [`stop ${number}`, `start ${number}`, `up ${number}`]),
      );
      const versions = await Promise.all(units.map((unit) => versionOf(unit.pid())));
      assert.deepEqual(versions, ['newer', 'newer', 'newer']);
    });
  }

  test('one on SQLite ends for good', async () => {
    await using folder = await temporaryFolder();
    const variables = await authVariables(auth, folder.path);
    await using machine = await layOutInstances(1, { ...variables, TODO_DATABASE: 'sqlite:todos.db' });
    const [one] = machine.units;
    await one?.start();
    assert.equal(one?.state(), 'failed');
  });

  test('one whose database is away is started again', async () => {
    await using folder = await temporaryFolder();
    const variables = await authVariables(auth, folder.path);
    const away = { ...variables, TODO_DATABASE: 'postgres://todo@127.0.0.1:1/todos' };
    await using machine = await layOutInstances(1, away);
    void machine.units[0]?.start();
    while (machine.orders.filter((order) => order === 'start 1').length < 2) await pause(50);
    assert.equal(machine.units[0]?.state(), 'activating');
  });
});
