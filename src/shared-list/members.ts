import { type EntityTag, entityTag } from './entity-tags.ts';

/** Longest title, in Unicode code points (contract Limits). */
const TITLE_MAX_LENGTH = 100;

/** Largest todo id and category id: the top of the signed 32-bit range (contract Limits). */
export const MAX_ID = 2_147_483_647;

const BLANK = /^\p{White_Space}*$/u;

declare const parsed: unique symbol;

/** 1 to 100 code points, not only white space, well-formed, no U+0000 (contract B10). Made only by `isTitle`. */
export type Title = string & { readonly [parsed]: 'Title' };

/** The rules of a title that a value breaks, each for people, behind "title". */
function titleFaults(value: unknown): readonly string[] {
  const faults = textFaults(value, TITLE_MAX_LENGTH);
  const isBlank = typeof value === 'string' && BLANK.test(value);
  return isBlank ? ['must not be empty or only white space', ...faults] : faults;
}

/** The rules that a value breaks that should be a text of so many code points, at most, which may be empty. */
function textFaults(value: unknown, maxLength: number): readonly string[] {
  if (typeof value !== 'string') return ['must be a string'];
  const faults: string[] = [];
  if (!value.isWellFormed() || value.includes('\0'))
    faults.push('must be well-formed Unicode text without U+0000');
  if (isLonger(value, maxLength)) faults.push(`must have at most ${maxLength} characters`);
  return faults;
}

/** Whether a text has more code points than this. A code point has one or two UTF-16 units. */
function isLonger(text: string, codePoints: number): boolean {
  if (text.length <= codePoints) return false;
  return text.length > 2 * codePoints || [...text].length > codePoints;
}

export function isTitle(value: unknown): value is Title {
  return titleFaults(value).length === 0;
}

/** Whether a value can be the id of a todo or of a category. */
export function isId(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_ID;
}

/** The rule of a member of a JSON object. */
interface Rule<Value = unknown> {
  readonly name: string;
  /** Takes undefined where the member may be missing. */
  readonly is: (value: unknown) => value is Value;
  /** The faults of any other value, for people, behind the name. */
  readonly faults: (value: unknown) => readonly string[];
}

export type Rules = readonly Rule[];
type ValueOf<Of> = Of extends Rule<infer Value> ? Value : never;
type Optional<Of> = Of extends Rule ? (undefined extends ValueOf<Of> ? Of : never) : never;

/** A JSON object whose members obey these rules. */
export type Obeying<Of extends Rules> = {
  readonly [One in Exclude<Of[number], Optional<Of[number]>> as One['name']]: ValueOf<One>;
} & { readonly [One in Optional<Of[number]> as One['name']]?: ValueOf<One> };

/** A member of a todo that a write sets. */
export type Member = Rule & {
  readonly column: string;
  /** The type of the column in PostgreSQL; of a text also the longest, in code points. */
  readonly kind: 'text' | 'boolean' | 'integer';
  readonly maxLength?: number;
  /** Whether `CreateTodo` has the member; else a new todo has the value of `missing`. */
  readonly inCreate: boolean;
  /** The value when a request leaves the member out. */
  readonly missing?: string | boolean | number;
};

// biome-ignore format: a member is a row
/**
 * The members of a todo that a write sets, in the order of the specification. From this list follow the value of a request
 * and its `errors`, the rows, the JSON, the line of an export and the comparison of creates.
 */
export const MEMBERS = [
  { name: 'title', column: 'title', kind: 'text', maxLength: TITLE_MAX_LENGTH, inCreate: true,
    is: isTitle, faults: titleFaults },
  { name: 'done', column: 'done', kind: 'boolean', inCreate: false, missing: false,
    is: (value: unknown) => typeof value === 'boolean', faults: () => ['must be true or false'] },
  { name: 'categoryId', column: 'category_id', kind: 'integer', inCreate: true,
    is: isId, faults: () => [`must be an integer from 1 to ${MAX_ID}`] },
] as const satisfies readonly Member[];

export type Row = (typeof MEMBERS)[number];

/** The members of a todo after a valid create or replacement. */
export type TodoMembers = Obeying<typeof MEMBERS>;

/** What was sent for them. */
export type Sent = { -readonly [Name in keyof TodoMembers]?: unknown };

/** The values of what was not sent. `CreateTodo` has no `done`: a todo begins with false (contract States). */
export const MISSING: Sent = Object.fromEntries(
  MEMBERS.flatMap((member) => ('missing' in member ? [[member.name, member.missing]] : [])),
);

export function hasMembers(value: Sent): value is TodoMembers {
  return MEMBERS.every(({ name, is }) => is(value[name]));
}

/** The type in a database, which knows no `Title`, and may have null for what is missing. */
type Stored<Value> = Value extends string ? string : Value extends undefined ? null | undefined : Value;

/** The read shape `TodoResponse`. Made only by a store. */
export type Todo = { readonly id: number } & {
  readonly [Name in keyof TodoMembers]: Stored<TodoMembers[Name]>;
};

export const CREATED = MEMBERS.filter((member) => member.inCreate);

export const COLUMN_NAMES = MEMBERS.map(({ column }) => column);

/** The values, in the order of `MEMBERS`; null for one that is missing. */
export function valuesOf(todo: TodoMembers) {
  return MEMBERS.map(({ name }) => todo[name] ?? null);
}

/** The `TodoResponse` as JSON text. It depends on the todo alone: every instance and every start makes the same. */
export function todoJson(todo: Todo): string {
  const json: Record<string, unknown> = { id: todo.id };
  for (const { name } of MEMBERS) json[name] = todo[name] ?? undefined;
  return JSON.stringify(json);
}

/** A todo as it is sent: the `TodoResponse` as JSON text, and the tag of exactly this text. */
export interface TodoRepresentation {
  readonly id: number;
  /** Members in the specification's order. */
  readonly json: string;
  /** Strong (RFC 9110 §8.8.3). */
  readonly etag: EntityTag;
}

export function represent(todo: Todo): TodoRepresentation {
  const json = todoJson(todo);
  return { id: todo.id, json, etag: entityTag(json) };
}
