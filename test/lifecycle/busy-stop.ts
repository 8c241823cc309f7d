import { Agent } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { header, type Reply } from '../../packages/conformance/src/http.ts';
import { signer } from '../../packages/conformance/src/sign.ts';
import { testAuth } from '../support/list.ts';
import { askBy } from '../support/raw.ts';
import { startService } from '../support/start.ts';

/**
 * 40 clients, each on one keep-alive connection and without a second try, while the service gets `SIGTERM`. A
 * client goes on until it is told that its connection closes, or until nobody listens any more. All of it is done again
 * when this process stood still during the stop: who is silent for 2 s then is not busy, but idle.
 *
 * @returns the requests that were answered, those whose connection ended without a complete answer, and the answers that
 * told the client that the connection closes.
 */
export async function stopWhileBusy() {
  for (;;) {
    const { stoodStill, ...outcome } = await stopOnce();
    if (!stoodStill) return outcome;
  }
}

async function stopOnce() {
  const auth = testAuth();
  const token = signer(auth)({ role: 'editor' });
  await using service = await startService({ auth });
  const counts = { answered: 0, lost: 0, closes: 0 };
  /** Answers of each client: one that has asked once is not known to go on. */
  const each = Array.from({ length: 40 }, () => 0);

  async function beClient(at: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      for (;;) {
        const reply = await ask(service.baseUrl, token, at, agent);
        counts.answered += 1;
        each[at] = (each[at] ?? 0) + 1;
        if (header(reply, 'connection') !== 'close') continue;
        counts.closes += 1;
        return;
      }
    } catch (error) {
      const nobodyListens = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
      if (!nobodyListens) counts.lost += 1;
    } finally {
      agent.destroy();
    }
  }

  const clients = Array.from({ length: 40 }, (_, at) => beClient(at));
  while (counts.answered < 100 || each.some((answers) => answers < 2)) await pause(10);
  await pause(Math.random() * 100);
  using lateness = monitorEventLoopDelay();
  lateness.enable();
  const exitCode = await service.stop('SIGTERM');
  await Promise.all(clients);
  return { ...counts, exitCode, stoodStill: lateness.max > 1e9 };
}

/** Sent a little after its head, in two pieces. */
async function* milk() {
  yield '{"title":"Buy milk",';
  await pause(5);
  yield '"categoryId":1}';
}

/** One client in four writes; one reads the first todo, which may not be there yet. Rejects without a complete answer. */
async function ask(baseUrl: string, token: string, at: number, agent: Agent): Promise<Reply> {
  const { hostname, port } = new URL(baseUrl);
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const [method, path, ...expected] =
    [['POST', '/todos', 201] as const, ['GET', '/todos/1', 200, 404] as const][at % 4] ??
    (['GET', '/todos', 200] as const);
  const body = method === 'POST' ? Readable.from(milk()) : undefined;
  const reply = await askBy(agent, { hostname, port, method, path, headers }, body);
  if (!expected.some((status) => status === reply.status)) throw new Error(`answered ${reply.status}`);
  return reply;
}
