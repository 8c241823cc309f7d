import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { signer } from '../../conformance/src/sign.ts';
import type { Todo } from '../../src/store/todo.ts';
import { freePort, temporaryFolder } from '../folder.ts';
import { startService } from '../start.ts';
import { testAuth } from './list.ts';
import type { ReverseProxy, StartProxy } from './proxies.ts';
import { askBy } from './raw.ts';

/** What became of the requests of one run. */
export interface Bridged {
  readonly answers: number;
  /** By status, or by the code of the error of a connection: whatever is not a success. */
  readonly failures: Readonly<Record<string, number>>;
  /** Creates that were answered and are not there once. */
  readonly notOnce: number;
}

const CLIENTS = 16;

/**
 * 16 clients, each on one keep-alive connection, read and create through a proxy, while the only instance behind it is
 * stopped and started anew on the same file and port, so many times.
 */
export async function restartBehind(startProxy: StartProxy, restarts: number): Promise<Bridged> {
  await using folder = await temporaryFolder();
  const auth = testAuth();
  const token = signer(auth)({ role: 'editor' });
  const port = await freePort();
  const start = () => startService({ auth, dataDir: folder.path, args: ['--port', String(port)] });
  let service = await start();
  await using parts = new AsyncDisposableStack();
  parts.defer(() => service[Symbol.asyncDispose]());
  const proxy = parts.use(await startProxy(port));
  const counts = { answers: 0, failures: {} as Record<string, number>, created: [] as string[] };
  const stop = new AbortController();
  const clients = Array.from({ length: CLIENTS }, (_, client) =>
    beClient(proxy, token, client, counts, stop.signal),
  );
  for (let restart = 0; restart < restarts; restart += 1) {
    await moreThan(counts, counts.answers + 300);
    await service.stop();
    service = await start();
  }
  await moreThan(counts, counts.answers + 300);
  stop.abort();
  await Promise.all(clients);
  const list = await fetch(`${service.baseUrl}/todos`, { headers: { authorization: `Bearer ${token}` } });
  const todos: readonly Todo[] = JSON.parse(await list.text());
  const times = new Map<string, number>();
  for (const { title } of todos) times.set(title, (times.get(title) ?? 0) + 1);
  const notOnce = counts.created.filter((title) => times.get(title) !== 1).length;
  return { answers: counts.answers, failures: counts.failures, notOnce };
}

async function moreThan(counts: { readonly answers: number }, answers: number): Promise<void> {
  while (counts.answers <= answers) await pause(10);
}

async function beClient(
  { url }: ReverseProxy,
  token: string,
  client: number,
  counts: { answers: number; failures: Record<string, number>; created: string[] },
  stop: AbortSignal,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const fail = (kind: string) => {
    counts.failures[kind] = (counts.failures[kind] ?? 0) + 1;
  };
  for (let step = 0; !stop.aborted; step += 1) {
    const title = step % 3 === 0 ? `${client} ${step}` : undefined;
    try {
      const status = await ask(url, token, title, agent);
      counts.answers += 1;
      if (status >= 300) fail(String(status));
      else if (title !== undefined) counts.created.push(title);
    } catch (error) {
      fail(error instanceof Error && 'code' in error ? String(error.code) : 'lost');
    }
    await pause(5);
  }
  agent.destroy();
}

/** Creates a todo with a title, else reads the first. Rejects without a complete answer. */
async function ask(url: string, token: string, title: string | undefined, agent: Agent): Promise<number> {
  const { hostname, port } = new URL(url);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const line =
    title === undefined ? { method: 'HEAD', path: '/todos?first' } : { method: 'POST', path: '/todos' };
  const body = title === undefined ? undefined : JSON.stringify({ title, categoryId: 1 });
  return (await askBy(agent, { hostname, port, ...line, headers }, body)).status;
}
