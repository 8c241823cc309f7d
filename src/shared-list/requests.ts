import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { Answer } from '../http/message/answer.ts';
import type { Parsed } from '../http/message/body.ts';
import type { Call } from '../http/message/routes.ts';
import { readDocument } from '../openapi/documents.ts';
import {
  type CreateKey,
  createKey,
  type EntityTag,
  type EntityTags,
  MAX_ID,
  MEMBERS,
  type NewTodo,
  type Preconditions,
  type Replacement,
  TITLE_MAX_LENGTH,
} from '../store/todo.ts';
import { KEY_MALFORMED, SUBJECT_MISSING } from './answers.ts';

const require = createRequire(import.meta.url);

/** The members of a body that the schema of this name has admitted. */
type CreateTodo = Pick<Replacement, 'title' | 'categoryId'>;
type ReplaceTodo = CreateTodo & Partial<Pick<Replacement, 'done'>>;

/** The members of the document itself: for the validator the root of all its schemas. */
const OPENAPI = ['openapi', 'info', 'servers', 'tags', 'paths', 'components'];

/**
 * The schemas of the document. Nothing is coerced, filled in or removed: a body is accepted as it is or refused.
 */
function compile() {
  const { Ajv2020 }: typeof import('ajv/dist/2020.js') = require('ajv/dist/2020.js');
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    formats: { int32: true },
    // The document is ours and a test holds it against the standard: no start does, nor compiles the meta-schema for it.
    meta: false,
    validateSchema: false,
  });
  ajv.addVocabulary(OPENAPI);
  ajv.addSchema(JSON.parse(readDocument('shared-list')), 'document');
  return {
    isCreateTodo: ajv.compile<CreateTodo>({ $ref: 'document#/components/schemas/CreateTodo' }),
    isReplaceTodo: ajv.compile<ReplaceTodo>({
      $ref: 'document#/components/schemas/ReplaceTodo',
    }),
  };
}

let compiled: ReturnType<typeof compile> | undefined;

function validators(): ReturnType<typeof compile> {
  compiled ??= compile();
  return compiled;
}

/**
 * Milliseconds. Ajv is a quarter of all that a start would load: the first answer comes before it. A body that comes
 * sooner compiles the schemas itself.
 */
const PREPARATION_DELAY_MS = 100;

/** Loads and compiles before a body is there what the first body would wait for, some 50 ms. */
export function prepareBodies(): void {
  setTimeout(validators, PREPARATION_DELAY_MS).unref();
}

/** Parses the body of `POST /todos`; unknown members are left behind (contract B6). */
export function parseCreateTodo(body: object): Parsed<NewTodo> {
  const { isCreateTodo } = validators();
  if (!isCreateTodo(body)) return { errors: sentences(isCreateTodo, body) };
  const { title, categoryId } = body;
  return { value: { title, categoryId } };
}

/** Parses the body of `PUT /todos/{id}`; an omitted `done` is false (contract B11). */
export function parseReplaceTodo(body: object): Parsed<Replacement> {
  const { isReplaceTodo } = validators();
  if (!isReplaceTodo(body)) return { errors: sentences(isReplaceTodo, body) };
  const { title, done = false, categoryId } = body;
  return { value: { title, done, categoryId } };
}

/** The `errors` of a validation failure (contract B12): all failing members, in the order of the specification. */
function sentences(
  { errors }: Pick<ValidateFunction, 'errors'>,
  body: object,
): Record<string, readonly string[]> {
  const byMember = MEMBERS.map(({ name }) => {
    const own = (errors ?? []).filter((error) => memberOf(error) === name).toSorted(patternFirst);
    return [name, [...new Set(own.map((error) => sentence(error, name, body)))]] as const;
  });
  return Object.fromEntries(byMember.filter(([, list]) => list.length > 0));
}

function patternFirst(one: ErrorObject, other: ErrorObject): number {
  return Number(other.keyword === 'pattern') - Number(one.keyword === 'pattern');
}

function memberOf({ keyword, instancePath, params }: ErrorObject): string {
  return keyword === 'required' ? String(params.missingProperty) : instancePath.slice(1);
}

/** What each member must be, by the keyword of its schema that it breaks. */
const RULES: Readonly<Record<keyof Replacement, (keyword: string, value: unknown) => string>> = {
  title(keyword, value) {
    if (keyword === 'type') return 'title must be a string.';
    if (keyword === 'maxLength') return `title must have at most ${TITLE_MAX_LENGTH} characters.`;
    if (/^\p{White_Space}*$/u.test(String(value))) return 'title must not be empty or only white space.';
    return 'title must be well-formed Unicode text without U+0000.';
  },
  done: () => 'done must be true or false.',
  categoryId: () => `categoryId must be an integer from 1 to ${MAX_ID}.`,
};

function sentence({ keyword }: ErrorObject, member: keyof Replacement, body: object): string {
  if (keyword === 'required') return `${member} is required${misspelling(member, body)}.`;
  const sent: { readonly [Member in keyof Replacement]?: unknown } = body;
  return RULES[member](keyword, sent[member]);
}

/** Contract B8: a member in another letter case is named where the right one is missing. */
function misspelling(member: string, body: object): string {
  const seen = Object.keys(body).find((name) => name.toLowerCase() === member.toLowerCase());
  return seen === undefined ? '' : `; "${seen}" was sent, but member names are case-sensitive`;
}

// A fault of the headers below is a 400 at the end of step 4 in the contract's order.

/**
 * The preconditions of a request (RFC 9110 §13.1); undefined when a header names no entity tags. `If-Modified-Since` and
 * `If-Unmodified-Since` are ignored: no representation has a modification date.
 */
export function readPreconditions(headers: IncomingHttpHeaders): Preconditions | undefined {
  const ifMatch = parseEntityTags(headers['if-match']);
  const ifNoneMatch = parseEntityTags(headers['if-none-match']);
  return ifMatch === null || ifNoneMatch === null ? undefined : { ifMatch, ifNoneMatch };
}

// OWS, and an entity-tag or the nothing between two commas (RFC 9110 §5.6.1.2, §8.8.3).
const ELEMENT = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/** Parses `If-Match` or `If-None-Match`; undefined without the header, null when it is malformed, an empty list included. */
export function parseEntityTags(value: string | undefined): EntityTags | undefined | null {
  if (value === undefined) return undefined;
  if (/^[ \t]*\*[ \t]*$/.test(value)) return '*';
  const tags: EntityTag[] = [];
  ELEMENT.lastIndex = 0;
  while (ELEMENT.lastIndex < value.length) {
    const element = ELEMENT.exec(value);
    if (element === null) return null;
    if (element[1] !== undefined) tags.push(element[1]);
  }
  return tags.length === 0 ? null : tags;
}

/** 1 to 128 characters U+0021 to U+007E without `"`, `\` and `,`; bare, or in double quotes with nothing behind. */
const KEY = /^(?:"([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,128})"|([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,128}))$/;

/**
 * The key in a value of `Idempotency-Key`, or undefined when it is malformed (contract I5). Node.js joins the values
 * of two lines with a comma, which no key has.
 */
export function parseIdempotencyKey(value: string): string | undefined {
  const [, quoted, bare] = KEY.exec(value) ?? [];
  return quoted ?? bare;
}

/** The key of a create, undefined without one, or the answer to a fault of it. */
export function readCreateKey(
  { headers, identity: { caller } }: Call,
  todo: NewTodo,
): CreateKey | Answer | undefined {
  const value = headers['idempotency-key'];
  if (value === undefined) return undefined;
  const key = parseIdempotencyKey(String(value));
  if (key === undefined) return KEY_MALFORMED;
  return caller === null ? SUBJECT_MISSING : createKey(caller, key, todo);
}
