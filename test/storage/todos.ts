import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { LogEvent } from '../../src/events.ts';
import { buffersOf } from '../../src/lib/answer-body.ts';
import type { Title, Todo, TodoMembers, TodoRepresentation } from '../../src/shared-list/members.ts';
import type { ListRepresentation, Once, TodoStore } from '../../src/shared-list/store.ts';
import { codePoint } from '../support/code-point.ts';

/** What an operator reads: the version of the schema that this program makes. */
export const SCHEMA_VERSION = { sqlite: migrationsOf('sqlite'), postgres: migrationsOf('postgres') };

function migrationsOf(engine: string): number {
  return readdirSync(new URL(`../../src/storage/${engine}/migrations/`, import.meta.url)).length;
}

/** A parsed `CreateTodo`, for tests that begin behind the parser. */
export function newTodo(title: string, categoryId: number): TodoMembers {
  return replacement(title, false, categoryId);
}

/** A parsed `ReplaceTodo`, for tests that begin behind the parser. */
export function replacement(title: string, done: boolean, categoryId: number): TodoMembers {
  return { title: title as Title, done, categoryId };
}

/** A key, for the body with which tests use it. */
export function once(key: string, body = 'milk'): Once {
  return { key, body, patienceMs: 600_000 };
}

/** Adds a todo to a category that exists. */
export async function addedTo(
  store: TodoStore,
  title: string,
  categoryId = 1,
  once?: Once,
): Promise<TodoRepresentation> {
  const outcome = await store.add(newTodo(title, categoryId), once);
  assert.ok(
    typeof outcome === 'object' && 'id' in outcome,
    `adding to category ${categoryId} gave ${outcome}`,
  );
  return outcome;
}

/** Adds todos, few enough at a time that a slow machine does not make the last ones wait for too long; in any order. */
export async function addMany(store: TodoStore, titles: Iterable<string>): Promise<TodoRepresentation[]> {
  const added: TodoRepresentation[] = [];
  const remaining = Iterator.from(titles);
  const lane = async (): Promise<void> => {
    for (const title of remaining) added.push(await addedTo(store, title));
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  return added;
}

export async function found(store: TodoStore, id: number): Promise<Todo | undefined> {
  const representation = await store.find(id);
  return representation === undefined ? undefined : JSON.parse(representation.json);
}

export async function listed(store: TodoStore): Promise<Todo[]> {
  return JSON.parse(await listText(store));
}

/** The list as JSON text. */
export async function listText(store: TodoStore): Promise<string> {
  return bytesOf(await store.list()).toString();
}

export function bytesOf({ body }: ListRepresentation): Buffer {
  return Buffer.concat(buffersOf(body));
}

/** What a check says is wrong, as soon as it does: the service looks again when 5 s have passed. */
export async function wrong(store: TodoStore): Promise<Error> {
  for (;;) {
    const error = await store.check().then(
      () => undefined,
      (error: Error) => error,
    );
    if (error !== undefined) return error;
    await sleep(20);
  }
}

/** Resolves when a check finds nothing wrong. */
export async function ready(store: TodoStore): Promise<void> {
  while ((await store.check().catch((error: Error) => error)) !== undefined) await sleep(20);
}

/** 1 to 100 code points of all planes, without U+0000 and surrogates (contract B10). */
export const titles = fc.string({
  unit: codePoint.filter((character) => character !== '\0'),
  minLength: 1,
  maxLength: 100,
});

/** What a store tells of its schema: why it is broken, and undefined when it is whole again. */
export function listenToSchema() {
  const told: (string | undefined)[] = [];
  const logEvent: LogEvent = (event) => {
    if (event.event === 'schema-broken') told.push(event.reason);
    if (event.event === 'schema-mended') told.push(undefined);
  };
  return { told, logEvent };
}
