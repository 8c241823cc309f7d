import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { signer } from '../../conformance/src/sign.ts';
import type { Todo } from '../../src/store/todo.ts';
import { freePort, temporaryFolder } from '../folder.ts';
import { startService } from '../start.ts';
import { testAuth } from './list.ts';
import type { StartProxy } from './proxies.ts';
import { askBy } from './raw.ts';

/**
 * 16 clients, half of them each on one keep-alive connection, the others on a new one for each request, read and create
 * with an `Idempotency-Key` through a proxy, while the only instance behind it is stopped and started anew on the same file
 * and port, so many times.
 *
 * @returns whatever is not a success, by status or by the code of the error of a connection, and how many creates that
 * were answered are not there once.
 */
export async function restartBehind(startProxy: StartProxy, restarts: number) {
  await using folder = await temporaryFolder();
  const auth = testAuth();
  const authorization = `Bearer ${signer(auth)({ role: 'editor' })}`;
  const port = await freePort();
  const start = () => startService({ auth, dataDir: folder.path, args: ['--port', String(port)] });
  let service = await start();
  await using parts = new AsyncDisposableStack();
  parts.defer(() => service[Symbol.asyncDispose]());
  const proxy = parts.use(await startProxy(port));
  const failures: Record<string, number> = {};
  const created: string[] = [];
  let answers = 0;
  let stopped = false;

  /** Rejects without a complete answer. */
  async function ask(agent: Agent, line: object, body?: string): Promise<number> {
    const { hostname, port } = new URL(proxy.url);
    const key = body && { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const headers = { authorization, ...key };
    return (await askBy(agent, { hostname, port, ...line, headers }, body)).status;
  }

  async function beClient(client: number): Promise<void> {
    const agent = new Agent({ keepAlive: client % 2 === 0, maxSockets: 1 });
    for (let step = 0; !stopped; step += 1) {
      const title = `${client} ${step}`;
      const creates = step % 3 === 0;
      const kind = await (creates
        ? ask(agent, { method: 'POST', path: '/todos' }, JSON.stringify({ title, categoryId: 1 }))
        : ask(agent, { method: 'HEAD', path: '/todos?first' })
      ).catch((error) => error.code ?? 'lost');
      if (typeof kind === 'number') answers += 1;
      if (!(kind < 300)) failures[kind] = (failures[kind] ?? 0) + 1;
      else if (creates) created.push(title);
      await pause(5);
    }
    agent.destroy();
  }

  async function goOn(): Promise<void> {
    for (const enough = answers + 300; answers <= enough; ) await pause(10);
  }

  const clients = Array.from({ length: 16 }, (_, client) => beClient(client));
  for (let restart = 0; restart < restarts; restart += 1) {
    await goOn();
    await service.stop();
    service = await start();
  }
  await goOn();
  stopped = true;
  await Promise.all(clients);
  const list = await fetch(`${service.baseUrl}/todos`, { headers: { authorization } });
  const todos: readonly Todo[] = JSON.parse(await list.text());
  const times = new Map<string, number>();
  for (const { title } of todos) times.set(title, (times.get(title) ?? 0) + 1);
  return { failures, notOnce: created.filter((title) => times.get(title) !== 1).length };
}
