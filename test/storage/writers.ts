import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Todo } from '../../src/shared-list/members.ts';
import { OutcomeUnknown, StoreUnavailable, type TodoStore } from '../../src/shared-list/store.ts';
import { todo } from '../support/todo.ts';
import { Ledger } from './ledger.ts';
import { listed, newTodo, replacement } from './todos.ts';

/** Lets eight clients write to stores of one database. */
export function startWriters(stores: readonly [TodoStore, ...TodoStore[]]) {
  const ledger = new Ledger();
  const stop = new AbortController();
  const writers = Array.from({ length: 8 }, (_, client) =>
    writeUntil(stores[client % stores.length] ?? stores[0], `client ${client}`, ledger, stop.signal),
  );
  return {
    ledger,
    /** Resolves when they have got so many more answers. */
    async answers(count: number): Promise<void> {
      const wanted = ledger.acknowledged + count;
      while (ledger.acknowledged < wanted) await sleep(1);
    },
    /** Ends it, and gives what the list says that it should not, one line each. */
    async faults(): Promise<readonly string[]> {
      stop.abort();
      await Promise.all(writers);
      return ledger.compare(await listedInTheEnd(stores[0]));
    },
  };
}

/** The list, as soon as a busy machine gives it in time. */
async function listedInTheEnd(store: TodoStore): Promise<Todo[]> {
  for (;;) {
    try {
      return await listed(store);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
    await sleep(100);
  }
}

/** One client: it adds a todo, replaces it, removes it, and so on. Whatever fails, it goes on. */
export async function writeUntil(
  store: TodoStore,
  name: string,
  ledger: Ledger,
  stop: AbortSignal,
): Promise<void> {
  for (let step = 0; !stop.aborted; step += 1) {
    const id = await add(store, `${name} step ${step}`, ledger);
    if (id === undefined) continue;
    const json = JSON.stringify(todo(id, name, true, 2));
    const replaced = await change(ledger, id, json, () => store.replace(id, replacement(name, true, 2)));
    if (replaced && step % 2 === 0) await change(ledger, id, undefined, () => store.remove(id));
  }
}

async function add(store: TodoStore, title: string, ledger: Ledger): Promise<number | undefined> {
  ledger.asked(title);
  try {
    const outcome = await store.add(newTodo(title, 1));
    assert.ok(typeof outcome === 'object' && 'id' in outcome);
    ledger.added(JSON.parse(outcome.json));
    return outcome.id;
  } catch (error) {
    if (notMade(error)) ledger.notAdded(title);
    return undefined;
  }
}

async function change(
  ledger: Ledger,
  id: number,
  after: string | undefined,
  operation: () => Promise<string>,
): Promise<boolean> {
  const done = ledger.changing(id, after);
  try {
    assert.match(await operation(), /^(replaced|removed)$/);
    done();
    return true;
  } catch (error) {
    if (notMade(error)) ledger.refused(id);
    return false;
  }
}

/** Whether it is certain that nothing was changed; nothing else may come of a write than a success or a doubt. */
function notMade(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return true;
  if (error instanceof OutcomeUnknown) return false;
  throw error;
}
