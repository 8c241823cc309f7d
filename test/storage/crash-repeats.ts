import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Todo } from '../../src/shared-list/members.ts';
import { randomFrom } from './random.ts';
import { type Served, serve } from './served.ts';

const CLIENTS = 8;

export interface RepeatedCrashes {
  /** One, or several with one database: then one of them is killed, and another one is asked again. */
  readonly instances: number;
  readonly dataDir: string;
  readonly cycles: number;
  readonly seed: number;
  /** Variables of the service's processes. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface RepeatFigures {
  readonly cycles: number;
  readonly created: number;
  /** Creates whose answer was lost, and those of them whose todo was there before they were repeated. */
  readonly unanswered: number;
  readonly madeUnanswered: number;
  readonly faults: readonly string[];
}

/**
 * Lets clients create todos with keys, kills an instance with SIGKILL at a random moment, and repeats what was not
 * answered until it is: every create must have made one todo, with the id of its answer.
 */
export async function crashRepeats(options: RepeatedCrashes): Promise<RepeatFigures> {
  const { instances, dataDir, cycles, seed, env = {} } = options;
  const database = env.TODO_DATABASE ?? `sqlite:${join(dataDir, 'todos.db')}`;
  const start = () => serve(database, { dataDir, env });
  const random = randomFrom(seed);
  const answered = new Map<string, number>();
  const faults: string[] = [];
  let unanswered = 0;
  let madeUnanswered = 0;
  const running: Served[] = [];
  for (let instance = 0; instance < instances; instance += 1) running.push(await start());
  const nth = (number: number): Served => running[number % instances] ?? assert.fail();
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const victim = cycle % instances;
    const stop = new AbortController();
    const before = answered.size;
    const clients = Array.from({ length: CLIENTS }, (_, number) =>
      createUntil(stop.signal, nth(number), `${cycle}-${number}`, answered),
    );
    const gone = Promise.all(clients).then(() => true);
    while (answered.size === before && !(await Promise.race([gone, sleep(5)])));
    await sleep(random() * 300);
    await nth(victim).stop('SIGKILL');
    stop.abort();
    const lost = (await Promise.all(clients)).filter((title) => title !== undefined);
    if (instances === 1) running[victim] = await start();
    const other = nth(victim + 1);
    const made = new Set((await listInTheEnd(other)).map(({ title }) => title));
    unanswered += lost.length;
    madeUnanswered += lost.filter((title) => made.has(title)).length;
    await Promise.all(lost.map(async (title) => answered.set(title, await createInTheEnd(other, title))));
    if (instances > 1) running[victim] = await start();
    faults.push(...faultsOf(await listInTheEnd(other), answered).map((fault) => `cycle ${cycle}: ${fault}`));
  }
  for (const instance of running) await instance.stop();
  return { cycles, created: answered.size, unanswered, madeUnanswered, faults };
}

/** What is doubled, lost, or under another id than its answer says; one line each. */
function faultsOf(list: readonly Todo[], answered: ReadonlyMap<string, number>): readonly string[] {
  const ids = Map.groupBy(list, ({ title }) => title);
  const doubled = [...ids].filter(([, todos]) => todos.length > 1).map(([title]) => `${title} is doubled`);
  const lost = [...answered].filter(([title, id]) => !ids.get(title)?.some((todo) => todo.id === id));
  const unasked = [...ids.keys()].filter((title) => !answered.has(title));
  return [
    ...doubled,
    ...lost.map(([title, id]) => `${title} is lost, or not the ${id} of its answer`),
    ...unasked.map((title) => `nobody asked for ${title}`),
  ];
}

/** Gives the title of the create that got no answer, if one did not. */
async function createUntil(
  stop: AbortSignal,
  service: Served,
  name: string,
  answered: Map<string, number>,
): Promise<string | undefined> {
  for (let step = 0; !stop.aborted; step += 1) {
    const title = `${name}-${step}`;
    try {
      const { status, body } = await create(service, title);
      // The database was late on a busy machine: as without an answer, it is repeated.
      if (status === 503) return title;
      if (status !== 201) throw new Error(`POST /todos: ${status} ${body}`);
      answered.set(title, JSON.parse(body).id);
    } catch (error) {
      if (error instanceof TypeError) return title;
      throw error;
    }
  }
  return undefined;
}

/** The list, as soon as the database is not late with it. */
async function listInTheEnd(service: Served): Promise<readonly Todo[]> {
  while ((await service.ask('HEAD', '/todos')).status === 503) await sleep(100);
  return service.list();
}

/** Repeats a create for as long as another instance has it under way, or the database is late. */
async function createInTheEnd(service: Served, title: string): Promise<number> {
  for (;;) {
    const { status, body, retryAfter } = await create(service, title);
    if (status === 201) return JSON.parse(body).id;
    if (status !== 409 && status !== 503) throw new Error(`POST /todos again: ${status} ${body}`);
    await sleep(Number(retryAfter) * 1_000);
  }
}

/** The title is the key. Rejects with fetch's `TypeError` when the connection is lost before the end of the answer. */
async function create(service: Served, title: string) {
  const reply = await service.ask('POST', '/todos', { title, categoryId: 1 }, { 'idempotency-key': title });
  const { status } = reply;
  return { status, body: await reply.text(), retryAfter: reply.headers.get('retry-after') };
}
