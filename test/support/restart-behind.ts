import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { header, type Reply } from '../../packages/conformance/src/http.ts';
import { signer, type Trust } from '../../packages/conformance/src/sign.ts';
import type { Todo } from '../../src/shared-list/members.ts';
import { freePort, temporaryFolder } from './folder.ts';
import { Holder } from './given.ts';
import { testAuth } from './list.ts';
import type { ReverseProxy, StartProxy } from './proxies.ts';
import { askBy } from './raw.ts';
import { authVariables, type ServeOptions, startService } from './start.ts';

/** What clients behind a proxy saw. */
export interface Seen {
  /** Whatever is not a success, by status or by the code of the error of a connection. */
  readonly failures: Readonly<Record<string, number>>;
  /** How many creates that were answered are not there once. */
  readonly notOnce: number;
  /** How many creates without a key, and deletes, were made twice. */
  readonly twice: number;
}

/** An instance that is stopped and started anew on the same ports. Owned: `await using`. */
export interface Restartable extends AsyncDisposable {
  readonly port: number;
  readonly adminPort: number;
  /** @param signal By default it stops as a restart does. */
  restart(signal?: NodeJS.Signals): Promise<void>;
}

export async function startRestartable(options: ServeOptions): Promise<Restartable> {
  const port = await freePort();
  const adminPort = await freePort();
  const env = { ...options.env, TODO_ADMIN_PORT: String(adminPort) };
  const start = () => startService({ ...options, env, args: ['--port', String(port)] });
  let service = await start();
  return {
    port,
    adminPort,
    async restart(signal) {
      await service.stop(signal);
      service = await start();
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** `clientsBehind` while the only instance is restarted so many times. */
export async function restartBehind(startProxy: StartProxy, restarts: number): Promise<Seen> {
  await using folder = await temporaryFolder();
  const auth = testAuth();
  await using service = await startRestartable({ auth, dataDir: folder.path });
  await using proxy = await startProxy(service.port);
  return await clientsBehind(proxy, auth, async (goOn) => {
    for (let restart = 0; restart < restarts; restart += 1) {
      await goOn();
      await service.restart();
    }
  });
}

/**
 * `clientsBehind` while the only instance, whose address another process holds, is restarted twice.
 *
 * @param more Signals that end it after that.
 */
export async function restartHeldBehind(
  startProxy: StartProxy,
  more: readonly NodeJS.Signals[] = [],
): Promise<Seen> {
  await using folder = await temporaryFolder();
  const auth = testAuth();
  const variables = await authVariables(auth, folder.path);
  using parent = await Holder.open(['serve', '--data-dir', folder.path]);
  const started = async () => {
    const pid = await parent.start(variables);
    await parent.logged('started');
    return pid;
  };
  let pid = await started();
  await using proxy = await startProxy(Number(new URL(parent.url).port));
  const seen = await clientsBehind(proxy, auth, async (goOn) => {
    for (const signal of ['SIGTERM', 'SIGTERM', ...more] as const) {
      await goOn();
      process.kill(pid, signal);
      await parent.ended();
      pid = await started();
    }
  });
  process.kill(pid, 'SIGTERM');
  await parent.ended();
  return seen;
}

/**
 * 16 clients, half of them each on one keep-alive connection, the others on a new one for each request, read and create
 * with an `Idempotency-Key` through a proxy, until the outage is over and some requests more. Four of them also create
 * without a key, and delete that: the failures of these are no failures.
 */
export async function clientsBehind(
  proxy: ReverseProxy,
  auth: Trust,
  outage: (goOn: () => Promise<void>) => Promise<void>,
): Promise<Seen> {
  const authorization = `Bearer ${signer(auth)({ role: 'editor' })}`;
  const { hostname, port } = new URL(proxy.url);
  const run = randomUUID();
  const failures: Record<string, number> = {};
  const created: string[] = [];
  const keyless: string[] = [];
  let deletedTwice = 0;
  let answers = 0;
  let stopped = false;

  /** Rejects without a complete answer. */
  function ask(agent: Agent, line: object, body?: string, key: object = {}): Promise<Reply> {
    const headers = { authorization, ...(body && { 'content-type': 'application/json', ...key }) };
    return askBy(agent, { hostname, port, ...line, headers }, body);
  }

  async function changeOnce(agent: Agent, title: string): Promise<void> {
    keyless.push(title);
    const made = await ask(
      agent,
      { method: 'POST', path: '/todos' },
      JSON.stringify({ title, categoryId: 1 }),
    );
    if (made.status !== 201) return;
    const deleted = await ask(agent, { method: 'DELETE', path: header(made, 'location') ?? '' });
    if (deleted.status === 404) deletedTwice += 1;
  }

  async function beClient(client: number): Promise<void> {
    const agent = new Agent({ keepAlive: client % 2 === 0, maxSockets: 1 });
    for (let step = 0; !stopped; step += 1) {
      const title = `${run} ${client} ${step}`;
      const creates = step % 3 === 0;
      const kind = await (creates
        ? ask(agent, { method: 'POST', path: '/todos' }, JSON.stringify({ title, categoryId: 1 }), {
            'idempotency-key': randomUUID(),
          })
        : ask(agent, { method: 'HEAD', path: '/todos?first' })
      ).then(
        ({ status }) => status,
        (error) => error.code ?? 'lost',
      );
      if (typeof kind === 'number') answers += 1;
      if (!(kind < 300)) failures[kind] = (failures[kind] ?? 0) + 1;
      else if (creates) created.push(title);
      if (client % 4 === 3 && creates) await changeOnce(agent, `${title} once`).catch(() => {});
      // So long that all of them together leave the machine time: a database that is late is a failure, too.
      await pause(20);
    }
    agent.destroy();
  }

  async function goOn(): Promise<void> {
    for (const enough = answers + 300; answers <= enough; ) await pause(10);
  }

  const clients = Array.from({ length: 16 }, (_, client) => beClient(client));
  try {
    await outage(goOn);
    await goOn();
  } finally {
    stopped = true;
    await Promise.all(clients);
  }
  const list = await fetch(`${proxy.url}/todos`, { headers: { authorization } });
  const todos: readonly Todo[] = JSON.parse(await list.text());
  const times = new Map<string, number>();
  for (const { title } of todos) times.set(title, (times.get(title) ?? 0) + 1);
  return {
    failures,
    notOnce: created.filter((title) => times.get(title) !== 1).length,
    twice: deletedTwice + keyless.filter((title) => (times.get(title) ?? 0) > 1).length,
  };
}
