import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TodoStore } from '../../src/store/store.ts';
import { entityTag, type Todo } from '../../src/store/todo.ts';
import { todo } from '../todo.ts';
import type { Engine } from './contract.ts';
import { isLinearizable, type Operation } from './linearizable.ts';
import { addedTo, found, listText, replacement } from './todos.ts';

/** What many clients see who work at once, each with any of the instances that the engine allows. */
export function describeWorkingTogether({ open, openAgain }: Engine): void {
  test('sixteen clients that count in one title with If-Match lose no count', async () => {
    await using first = await open();
    await using second = openAgain === undefined ? undefined : await openAgain();
    await addedTo(first, '0');
    const counts = await Promise.all(
      Array.from({ length: 16 }, (_, client) => countTo(10, client % 2 === 0 ? first : (second ?? first))),
    );
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      160,
    );
    assert.equal((await found(first, 1))?.title, '160');
  });

  test('whatever is done at once to one todo, it has an order', async () => {
    await using first = await open();
    await using second = openAgain === undefined ? undefined : await openAgain();
    for (let round = 0; round < 40; round += 1) {
      const { id, json } = await addedTo(first, `todo ${round}`);
      const history: Operation[] = [];
      const clients = Array.from({ length: 6 }, (_, client) =>
        workOn(client % 2 === 0 ? first : (second ?? first), { id, json, client, history }),
      );
      await Promise.all(clients);
      assert.ok(isLinearizable(history, { json }), `round ${round}`);
    }
  });

  test('of sixteen removals at once, with whatever instance, one removes', async () => {
    await using first = await open();
    await using second = openAgain === undefined ? undefined : await openAgain();
    for (let round = 0; round < 20; round += 1) {
      const { id } = await addedTo(first, 'a');
      const outcomes = await Promise.all(
        Array.from({ length: 16 }, (_, client) => (client % 2 === 0 ? first : (second ?? first)).remove(id)),
      );
      assert.equal(outcomes.filter((outcome) => outcome === 'removed').length, 1);
    }
  });
}

/** Adds one to the number in the title of todo 1, again and again, and counts the writes that were made. */
async function countTo(limit: number, store: TodoStore): Promise<number> {
  let made = 0;
  while (made < limit) {
    const read = await store.find(1);
    assert.ok(read !== undefined);
    const { title }: Todo = JSON.parse(read.json);
    const next = replacement(String(Number(title) + 1), false, 1);
    if ((await store.replace(1, next, { ifMatch: [read.etag] })) === 'replaced') made += 1;
  }
  return made;
}

interface Work {
  readonly id: number;
  /** The todo before anybody began. */
  readonly json: string;
  readonly client: number;
  readonly history: Operation[];
}

let events = 0;

/** A few operations one after the other, each written down with what it must have met. */
async function workOn(store: TodoStore, { id, json, client, history }: Work): Promise<void> {
  for (let step = 0; step < 3; step += 1) {
    if (Math.random() < 0.5) await sleep(Math.random() * 2);
    events += 1;
    const from = events;
    const apply = await operate(store, id, json, `client ${client} step ${step}`);
    events += 1;
    history.push({ from, until: events, apply });
  }
}

async function operate(
  store: TodoStore,
  id: number,
  first: string,
  title: string,
): Promise<Operation['apply']> {
  const dice = Math.random();
  if (dice < 0.35) {
    const seen = (await store.find(id))?.json;
    return (state) => (state?.json === seen ? state : 'impossible');
  }
  if (dice < 0.5) {
    const todos: Todo[] = JSON.parse(await listText(store));
    const todo = todos.find((each) => each.id === id);
    const seen = todo === undefined ? undefined : JSON.stringify(todo);
    return (state) => (state?.json === seen ? state : 'impossible');
  }
  if (dice < 0.6) {
    const outcome = await store.remove(id);
    return (state) => ((state === undefined) === (outcome === 'todo-missing') ? undefined : 'impossible');
  }
  const json = JSON.stringify(todo(id, title, true, 2));
  const etag = entityTag(first);
  const conditional = dice < 0.75;
  const outcome = await store.replace(
    id,
    replacement(title, true, 2),
    conditional ? { ifMatch: [etag] } : {},
  );
  return (state) => {
    if (state === undefined) return outcome === 'todo-missing' ? state : 'impossible';
    if (conditional && state.json !== first) return outcome === 'precondition-failed' ? state : 'impossible';
    return outcome === 'replaced' ? { json } : 'impossible';
  };
}
