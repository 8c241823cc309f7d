import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { signer } from '../../conformance/src/sign.ts';
import { startService } from '../start.ts';
import { testAuth } from './list.ts';

/** What became of the requests of one run. */
export interface BusyStop {
  readonly answered: number;
  /** Requests whose connection ended without a complete answer. */
  readonly lost: number;
  readonly exitCode: number | null;
  /** Answers that told the client that the connection closes. */
  readonly closes: number;
}

/**
 * 40 clients, each on one keep-alive connection and without a second try, while the service gets `SIGTERM`. A
 * client goes on until it is told that its connection closes, or until nobody listens any more.
 */
export async function stopWhileBusy(): Promise<BusyStop> {
  const auth = testAuth();
  const token = signer(auth)({ role: 'editor' });
  await using service = await startService({ auth });
  const counts = { answered: 0, lost: 0, closes: 0 };
  const clients = Array.from({ length: 40 }, (_, at) => beClient(service.baseUrl, token, at, counts));
  while (counts.answered < 100) await pause(10);
  await pause(Math.random() * 100);
  const exitCode = await service.stop('SIGTERM');
  await Promise.all(clients);
  return { ...counts, exitCode };
}

async function beClient(
  baseUrl: string,
  token: string,
  at: number,
  counts: { answered: number; lost: number; closes: number },
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    for (;;) {
      const response = await ask(baseUrl, token, at, agent);
      counts.answered += 1;
      if (response.headers.connection !== 'close') continue;
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

/**
 * One client in four writes, and sends its body a little after its head; one reads the first todo, which may not
 * be there yet. Rejects without a complete answer.
 */
async function ask(baseUrl: string, token: string, at: number, agent: Agent): Promise<IncomingMessage> {
  const writes = at % 4 === 0;
  const readsOne = at % 4 === 1;
  const sent = request(`${baseUrl}/todos${readsOne ? '/1' : ''}`, {
    agent,
    method: writes ? 'POST' : 'GET',
    headers: {
      Authorization: `Bearer ${token}`,
      ...(writes ? { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' } : {}),
    },
  });
  const answered: Promise<[IncomingMessage]> = once(sent, 'response') as Promise<[IncomingMessage]>;
  if (writes) {
    sent.write('{"title":"Buy milk",');
    await Promise.race([pause(5), answered]);
  }
  sent.end(writes ? '"categoryId":1}' : undefined);
  const [response] = await answered;
  response.resume();
  await once(response, 'end');
  const expected = writes ? [201] : readsOne ? [200, 404] : [200];
  if (!expected.includes(response.statusCode ?? 0)) throw new Error(`answered ${response.statusCode}`);
  return response;
}
