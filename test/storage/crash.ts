import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { todo } from '../support/todo.ts';
import { Ledger } from './ledger.ts';
import { randomFrom } from './random.ts';
import { type Served, serve } from './served.ts';

const WRITERS = 8;

export interface Crashes {
  readonly dataDir: string;
  readonly cycles: number;
  readonly seed: number;
  /** Variables of the service's process. */
  readonly env?: Readonly<Record<string, string>>;
  /** What happens to the files between a death and the next start. */
  readonly afterDeath?: (random: () => number) => Promise<void>;
}

export interface CrashFigures {
  readonly cycles: number;
  readonly acknowledged: number;
  /** What a start found that it should not, one line each. */
  readonly faults: readonly string[];
}

/**
 * Starts the service, lets eight clients write, kills it with SIGKILL at a random moment, and starts again:
 * every acknowledged write must be there once, and nothing else but what was asked and not answered.
 */
export async function crash({ dataDir, cycles, seed, env = {}, afterDeath }: Crashes): Promise<CrashFigures> {
  const database = `sqlite:${join(dataDir, 'todos.db')}`;
  const random = randomFrom(seed);
  const ledger = new Ledger();
  const faults: string[] = [];
  for (let cycle = 0; cycle <= cycles; cycle += 1) {
    const service = await serve(database, { dataDir, env });
    faults.push(...ledger.compare(await service.list()).map((fault) => `cycle ${cycle}: ${fault}`));
    if (cycle < cycles) {
      const writers = Array.from({ length: WRITERS }, (_, writer) =>
        write(service, `${cycle}-${writer}`, ledger, random),
      );
      const before = ledger.acknowledged;
      const gone = Promise.all(writers).then(() => true);
      // On a slow machine, the first answers may take longer than what follows.
      while (ledger.acknowledged === before && !(await Promise.race([gone, sleep(5)])));
      await sleep(50 + random() * 700);
      await service.stop('SIGKILL');
      await Promise.all(writers);
      await afterDeath?.(random);
    } else await service.stop();
  }
  return { cycles, acknowledged: ledger.acknowledged, faults };
}

/** One client, until nobody answers: it adds todos, and replaces and removes its own. */
async function write(service: Served, name: string, ledger: Ledger, random: () => number): Promise<void> {
  const own: number[] = [];
  try {
    for (let step = 0; ; step += 1) {
      const id = random() < 0.5 ? own.pop() : undefined;
      const title = `${name}-${step}`;
      if (id === undefined) {
        ledger.asked(title);
        const todo = await send(service, 'POST', '/todos', { title, categoryId: 1 });
        ledger.added(JSON.parse(todo));
        own.push(JSON.parse(todo).id);
      } else if (random() < 0.5) {
        const done = ledger.changing(id, JSON.stringify(todo(id, title, true, 2)));
        await send(service, 'PUT', `/todos/${id}`, { title, done: true, categoryId: 2 });
        done();
        own.unshift(id);
      } else {
        const done = ledger.changing(id, undefined);
        await send(service, 'DELETE', `/todos/${id}`);
        done();
      }
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

/** The body of a success. Rejects with fetch's `TypeError` when the connection is lost before its end. */
async function send(service: Served, method: string, path: string, body?: object): Promise<string> {
  const reply = await service.ask(method, path, body);
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
  return text;
}
