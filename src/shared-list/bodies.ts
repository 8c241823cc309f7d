import { createRequire } from 'node:module';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { XStatic } from 'typebox/schema';
import type { Parsed } from '../http/message/read-json.ts';
import {
  type CategoryId,
  MAX_ID,
  type NewTodo,
  type Replacement,
  TITLE_MAX_LENGTH,
  type Title,
} from '../store/todo.ts';
import { CreateTodo, ReplaceTodo } from './schemas.ts';

const require = createRequire(import.meta.url);

/** Nothing is coerced, filled in or removed: a body is accepted as it is or refused. */
function compile() {
  const { Ajv2020 }: typeof import('ajv/dist/2020.js') = require('ajv/dist/2020.js');
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    strictTypes: false,
    formats: { int32: true },
    // The schemas are ours: no start looks at them, nor compiles the meta-schema for it.
    meta: false,
    validateSchema: false,
  });
  return {
    isCreateTodo: ajv.compile<XStatic<typeof CreateTodo>>(CreateTodo),
    isReplaceTodo: ajv.compile<XStatic<typeof ReplaceTodo>>(ReplaceTodo),
  };
}

let compiled: ReturnType<typeof compile> | undefined;

function validators(): ReturnType<typeof compile> {
  compiled ??= compile();
  return compiled;
}

/**
 * Milliseconds. Ajv is a quarter of all that a start would load: the first answer comes before it, and the first
 * body after it.
 */
const PREPARATION_DELAY_MS = 100;

/** Loads and compiles before a body is there what the first body would wait for, some 50 ms. */
export function prepareBodies(): void {
  setTimeout(validators, PREPARATION_DELAY_MS).unref();
}

/** Parses the body of `POST /todos`; unknown members are left behind (contract B6). */
export function parseCreateTodo(body: object): Parsed<NewTodo> {
  const { isCreateTodo } = validators();
  if (!isCreateTodo(body)) return { errors: sentences(isCreateTodo, CreateTodo.properties, body) };
  return { value: { title: body.title as Title, categoryId: body.categoryId as CategoryId } };
}

/** Parses the body of `PUT /todos/{id}`; an omitted `done` is false (contract B11). */
export function parseReplaceTodo(body: object): Parsed<Replacement> {
  const { isReplaceTodo } = validators();
  if (!isReplaceTodo(body)) return { errors: sentences(isReplaceTodo, ReplaceTodo.properties, body) };
  const { title, done = false, categoryId } = body;
  return { value: { title: title as Title, done, categoryId: categoryId as CategoryId } };
}

/** The `errors` of a validation failure (contract B12): all failing members, in the order of the schema. */
function sentences(
  { errors }: Pick<ValidateFunction, 'errors'>,
  properties: object,
  body: object,
): Record<string, readonly string[]> {
  const byMember = Object.keys(properties).map((member) => {
    const own = (errors ?? []).filter((error) => memberOf(error) === member).toSorted(patternFirst);
    return [member, [...new Set(own.map((error) => sentence(error, member, body)))]] as const;
  });
  return Object.fromEntries(byMember.filter(([, list]) => list.length > 0));
}

function patternFirst(one: ErrorObject, other: ErrorObject): number {
  return Number(other.keyword === 'pattern') - Number(one.keyword === 'pattern');
}

function memberOf({ keyword, instancePath, params }: ErrorObject): string {
  return keyword === 'required' ? String(params.missingProperty) : instancePath.slice(1);
}

function sentence({ keyword }: ErrorObject, member: string, body: object): string {
  if (keyword === 'required') return `${member} is required${misspelling(member, body)}.`;
  if (member === 'categoryId') return `categoryId must be an integer from 1 to ${MAX_ID}.`;
  if (member === 'done') return 'done must be true or false.';
  if (keyword === 'type') return 'title must be a string.';
  if (keyword === 'maxLength') return `title must have at most ${TITLE_MAX_LENGTH} characters.`;
  if ('title' in body && /^\p{White_Space}*$/u.test(String(body.title))) {
    return 'title must not be empty or only white space.';
  }
  return 'title must be well-formed Unicode text without U+0000.';
}

/** Contract B8: a member in another letter case is named where the right one is missing. */
function misspelling(member: string, body: object): string {
  const seen = Object.keys(body).find((name) => name.toLowerCase() === member.toLowerCase());
  return seen === undefined ? '' : `; "${seen}" was sent, but member names are case-sensitive`;
}
