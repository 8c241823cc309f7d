import { createHash } from 'node:crypto';
import { categoryNameFault } from '../operator.ts';
import { isCategoryId, isId, isTitle, MAX_ID, TITLE_MAX_LENGTH, type Todo, todoJson } from '../todo.ts';
import type { ExportSource, KeptKey } from './contents.ts';

/** The first members of the first line: any program can tell what the file is, and whether it can read it. */
const FORMAT = 'todo-service-export';

/** Rises only when a program that reads the one before would read this one wrong. */
const VERSION = 1;

/** What a member of a line must be; for people, after "must be". */
interface Rule<T> {
  readonly wanted: string;
  readonly holds: (value: unknown) => value is T;
}

/** What the members of a kind of line must be; it has no others. */
export type Rules = Readonly<Record<string, Rule<unknown>>>;

export type Line<Of extends Rules> = {
  readonly [Member in keyof Of]: Of[Member] extends Rule<infer T> ? T : never;
};

const isCount = (value: unknown): value is number => value === 0 || isId(value);
const matches = (value: unknown, pattern: RegExp): value is string =>
  typeof value === 'string' && pattern.test(value);

const COUNT = { wanted: `an integer from 0 to ${MAX_ID}`, holds: isCount };
const OPTIONAL_COUNT = {
  wanted: `${COUNT.wanted}, or left out`,
  holds: (value: unknown): value is number | undefined => value === undefined || isCount(value),
};
const ID = { wanted: `an integer from 1 to ${MAX_ID}`, holds: isId };
const DIGEST = {
  wanted: 'a SHA-256 in base64url, 43 characters',
  holds: (value: unknown): value is string => matches(value, /^[\w-]{43}$/),
};

/** The first line. */
export const HEAD = {
  format: { wanted: `"${FORMAT}"`, holds: (value: unknown): value is string => value === FORMAT },
  version: {
    wanted: `${VERSION}, the newest that this program reads`,
    holds: (value: unknown): value is number => value === VERSION,
  },
  highestId: OPTIONAL_COUNT,
  categories: COUNT,
  todos: COUNT,
  keys: OPTIONAL_COUNT,
};

export const CATEGORY = {
  id: ID,
  name: {
    wanted: '1 to 100 characters on one line, without white space around them',
    holds: (value: unknown): value is string =>
      typeof value === 'string' && categoryNameFault(value) === undefined,
  },
};

export const TODO = {
  id: ID,
  title: {
    wanted: `1 to ${TITLE_MAX_LENGTH} characters, not only white space, without U+0000 and lone surrogates`,
    holds: isTitle,
  },
  done: { wanted: 'true or false', holds: (value: unknown): value is boolean => typeof value === 'boolean' },
  categoryId: { ...ID, holds: isCategoryId },
} satisfies { readonly [Member in keyof Todo]-?: Rule<Todo[Member]> };

export const KEY = {
  key: DIGEST,
  body: DIGEST,
  todoId: ID,
  at: {
    wanted: 'a time in UTC and whole seconds of the years 1 to 9999, like "2026-11-22T09:30:00Z"',
    // PostgreSQL has no year 0, and none below -4713.
    holds: (value: unknown): value is string =>
      matches(value, /^(?!0000)\d{4}-/) && timeOf(secondsOf(value)) === value,
  },
};

/** The last line. */
export const END = {
  sha256: {
    wanted: '64 hexadecimal digits in lower case',
    holds: (value: unknown): value is string => matches(value, /^[0-9a-f]{64}$/),
  },
};

/** A part of an export that ends with a line, and how many todos stand in all parts up to its end. */
export interface Part {
  readonly text: string;
  readonly todos: number;
}

/** An export, from its first line to its last. */
export async function* exportParts(source: ExportSource): AsyncGenerator<Part> {
  const sha256 = createHash('sha256');
  let todos = 0;
  const part = (lines: readonly string[]): Part => {
    const text = lines.map((line) => `${line}\n`).join('');
    sha256.update(text);
    return { text, todos };
  };
  const { highestId, counts, categories } = source;
  const head: Line<typeof HEAD> = { format: FORMAT, version: VERSION, highestId, ...counts };
  yield part([JSON.stringify(head), ...categories.map(({ id, name }) => JSON.stringify({ id, name }))]);
  let rows = await source.todosAfter(0);
  for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
    todos += rows.length;
    yield part(rows.map(todoJson));
    rows = await source.todosAfter(last.id);
  }
  let keys = await source.keysAfter('');
  for (let last = keys.at(-1); last !== undefined; last = keys.at(-1)) {
    yield part(keys.map(keyJson));
    keys = await source.keysAfter(last.key);
  }
  await source.check();
  yield { text: `${JSON.stringify({ sha256: sha256.digest('hex') })}\n`, todos };
}

function keyJson({ key, body, todoId, at }: KeptKey): string {
  const line: Line<typeof KEY> = { key, body, todoId, at: timeOf(at) };
  return JSON.stringify(line);
}

/** Whole seconds since 1970; not a number for what is no time. */
export function secondsOf(time: string): number {
  return Date.parse(time) / 1_000;
}

function timeOf(seconds: number): string {
  return Number.isNaN(seconds) ? '' : new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z');
}
