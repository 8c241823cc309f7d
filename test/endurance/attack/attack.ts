import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { makeTodos } from '../../../bench/make-todos.ts';
import { freeDescriptors } from '../../../src/server/descriptors.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { processorSeconds, residentMegabytes } from '../../support/process-figures.ts';
import { steadily } from '../../support/steadily.ts';
import { startLoaded } from '../load.ts';
import type { Orders, Outcome } from './attacker.ts';
import type { Scenario } from './scenarios.ts';

/** Between two looks at the memory. */
const LOOK_MS = 20;

/** What the service gets to come to rest after its start. */
const REST_MS = 2_000;

/** Files that this process opens beside the attackers' connections, to look at the service and to ask it. */
const OWN_FILES = 50;

/** What an attack took. */
export interface Figures extends Outcome {
  /** Megabytes of resident memory: before, and at most while it lasted. */
  readonly before: number;
  readonly peak: number;
  /** Of all processors together. */
  readonly processorSeconds: number;
  /** The longest of another client's waits, which asked for one todo ten times a second. */
  readonly longestWaitMs: number;
  /** How often that client got no 200. */
  readonly failed: number;
}

/** Starts a service in production, attacks it for so many seconds, and looks at its process meanwhile (Linux). */
export async function attack(scenario: Scenario, seconds: number): Promise<Figures> {
  await using folder = await temporaryFolder();
  await makeTodos(join(folder.path, 'todos.db'), scenario.todos);
  // The other client's is one more.
  const env = { TODO_MAX_CONNECTIONS: String(scenario.connections + 10) };
  await using parts = new AsyncDisposableStack();
  const { service, token, ask: other } = await startLoaded(parts, { dataDir: folder.path, env });
  const ask = async () => {
    const began = performance.now();
    // 0 where the service closed the connection, or has ended.
    const { status } = await other('GET', '/todos/1').catch(() => ({ status: 0 }));
    return { status, milliseconds: performance.now() - began };
  };
  await steadily(10, REST_MS / 1_000, ask);

  const before = residentMegabytes(service.pid);
  const busyBefore = processorSeconds(service.pid);
  let peak = before;
  const looking = setInterval(() => {
    peak = Math.max(peak, residentMegabytes(service.pid));
  }, LOOK_MS);
  const { reads, goesOn, opensEveryMs = 0 } = scenario;
  // Where the limit of open files leaves fewer, as many as it leaves.
  const connections = Math.min(scenario.connections, freeDescriptors() - OWN_FILES);
  const orders: Orders = {
    port: Number(new URL(service.baseUrl).port),
    reads,
    ...(goesOn && { goesOn }),
    opensEveryMs,
    bytes: Array.from({ length: connections }, (_, index) => scenario.bytes(token, index)),
  };
  const attacker = new Worker(new URL('./attacker.ts', import.meta.url), { workerData: orders });
  const waits = await steadily(10, seconds, ask);
  const busy = processorSeconds(service.pid) - busyBefore;
  clearInterval(looking);
  // After a stall of this thread, its end comes with its last message.
  const ended = once(attacker, 'exit');
  attacker.postMessage('end');
  const [outcome] = (await once(attacker, 'message')) as [Outcome];
  await ended;
  return {
    ...outcome,
    before,
    peak,
    processorSeconds: busy,
    longestWaitMs: Math.max(...waits.map(({ milliseconds }) => milliseconds)),
    failed: waits.filter(({ status }) => status !== 200).length,
  };
}

/** What took more than so many times its budget, a sentence each. Waits have no budget: they are the machine's, too. */
export function overBudget(scenario: Scenario, figures: Figures, times: number): string[] {
  const megabytes = figures.peak - figures.before;
  const over: string[] = [];
  if (megabytes > scenario.megabytes * times) over.push(`${megabytes.toFixed(0)} MB of memory`);
  if (figures.processorSeconds > scenario.processorSeconds * times) {
    over.push(`${figures.processorSeconds.toFixed(1)} s of the processor`);
  }
  return over;
}
