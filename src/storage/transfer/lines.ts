import { orUndefined } from '../../lib/errors.ts';
import { isId, MAX_ID, MEMBERS } from '../../shared-list/members.ts';
import { categoryNameFault } from '../maintenance.ts';

/** The first member of the first line: any program can see the kind of the file, and whether it can read it. */
export const FORMAT = 'todo-service-export';

/** Raised only when a program that reads the version before would read this one wrong. */
export const VERSION = 1;

const isCount = (value: unknown): value is number => value === 0 || isId(value);
const matches = (value: unknown, pattern: RegExp): value is string =>
  typeof value === 'string' && pattern.test(value);

/** @param wanted For people, after "must be". */
function rule<Name extends string, Value>(
  name: Name,
  wanted: string,
  is: (value: unknown) => value is Value,
) {
  return { name, is, faults: () => [`must be ${wanted}`] };
}

const count = <Name extends string>(name: Name) => rule(name, `an integer from 0 to ${MAX_ID}`, isCount);
const optionalCount = <Name extends string>(name: Name) =>
  rule(
    name,
    `an integer from 0 to ${MAX_ID}, or left out`,
    (value): value is number | undefined => value === undefined || isCount(value),
  );
const id = <Name extends string>(name: Name) => rule(name, `an integer from 1 to ${MAX_ID}`, isId);
const digest = <Name extends string>(name: Name) =>
  rule(name, 'a SHA-256 in base64url, 43 characters', (value) => matches(value, /^[\w-]{43}$/));

export const HEAD = [
  rule('format', `"${FORMAT}"`, (value) => value === FORMAT),
  rule('version', `${VERSION}, the newest that this program reads`, (value) => value === VERSION),
  optionalCount('highestId'),
  count('categories'),
  count('todos'),
  optionalCount('keys'),
] as const;

export const CATEGORY = [
  id('id'),
  rule(
    'name',
    '1 to 100 characters on one line, without white space around them',
    (value): value is string => typeof value === 'string' && categoryNameFault(value) === undefined,
  ),
] as const;

/** The rules of a member of a todo are those of a request. */
export const TODO = [id('id'), ...MEMBERS] as const;

export const KEY = [
  digest('key'),
  digest('body'),
  id('todoId'),
  // PostgreSQL has no year 0, and none below -4713.
  rule(
    'at',
    'a time in UTC and whole seconds of the years 1 to 9999, like "2026-11-22T09:30:00Z"',
    (value): value is string => matches(value, /^(?!0000)\d{4}-/) && timeOf(secondsOf(value)) === value,
  ),
] as const;

export const END = [
  rule('sha256', '64 hexadecimal digits in lower case', (value) => matches(value, /^[0-9a-f]{64}$/)),
] as const;

/** Whole seconds since 1970; NaN for a text that is no time. */
export function secondsOf(time: string): number {
  return Date.parse(time) / 1_000;
}

/** The time of a line; undefined for what is no time. */
export function timeOf(seconds: unknown): string | undefined {
  const time = new Date(typeof seconds === 'number' ? seconds * 1_000 : Number.NaN);
  return orUndefined(() => time.toISOString().replace('.000Z', 'Z'));
}
