import type { Obeying, Rules } from '../../shared-list/members.ts';
import type { CATEGORY, KEY, TODO } from './lines.ts';

/** The member of a row or a line that breaks a rule, and the reason for people, behind its name. */
export type Fault = readonly [name: string, reason: string];

export function obeys<Of extends Rules>(value: object, rules: Of): value is Obeying<Of> {
  return rules.every(({ name, is }) => is(Reflect.get(value, name)));
}

/** The first member that breaks its rule, of a value that does not obey all. */
export function faultIn(value: object, rules: Rules): Fault {
  const broken = rules.find(({ name, is }) => !is(Reflect.get(value, name)));
  const member: unknown = broken && Reflect.get(value, broken.name);
  if (member instanceof Uint8Array) return [broken?.name ?? '', 'must be text in UTF-8'];
  return [broken?.name ?? '', broken?.faults(member)[0] ?? ''];
}

/** The rules between the rows of an export, which come in its order: what `import` refuses, `export` does not write. */
export class Relations {
  readonly #highest: number;
  readonly #categories = new Set<unknown>();
  #lastId = 0;
  #lastKey = '';
  /** Of the categories. */
  highestCategoryId = 0;
  /** Of the todos, and of those that keys name. */
  highestId = 0;

  /** @param highest The highest id of a todo that was given out. */
  constructor(highest: number) {
    this.#highest = highest;
  }

  /** Takes a category as one that is there, whatever its name. */
  know(id: unknown): void {
    this.#categories.add(id);
  }

  ofCategory({ id }: Obeying<typeof CATEGORY>): Fault | undefined {
    this.know(id);
    if (id <= this.highestCategoryId) return notAbove(this.highestCategoryId, id);
    this.highestCategoryId = id;
    return undefined;
  }

  ofTodo({ id, categoryId }: Obeying<typeof TODO>): Fault | undefined {
    if (id <= this.#lastId) return notAbove(this.#lastId, id);
    this.#lastId = id;
    if (!this.#categories.has(categoryId))
      return ['categoryId', `must be the id of a category, received ${categoryId}`];
    return this.#atMost('id', id);
  }

  ofKey({ key, todoId }: Obeying<typeof KEY>): Fault | undefined {
    if (key <= this.#lastKey)
      return ['key', 'must come after that of the line before, in the order of ASCII'];
    this.#lastKey = key;
    return this.#atMost('todoId', todoId);
  }

  #atMost(name: string, id: number): Fault | undefined {
    if (id > this.#highest)
      return [name, `must be at most ${this.#highest}, the "highestId" of line 1, received ${id}`];
    this.highestId = Math.max(this.highestId, id);
    return undefined;
  }
}

const notAbove = (last: number, id: number): Fault => ['id', `must be above ${last}, received ${id}`];
