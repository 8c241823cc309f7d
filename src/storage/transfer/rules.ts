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

export type Relations = ReturnType<typeof openRelations>;

/**
 * The rules between the rows of an export, which come in its order: what `import` refuses, `export` does not write.
 *
 * @param highest The highest id of a todo that was given out.
 */
export function openRelations(highest: number) {
  const categories = new Set<unknown>();
  const known = { highestId: 0, highestCategoryId: 0 };
  let lastId = 0;
  let lastKey = '';

  function atMost(name: string, id: number): Fault | undefined {
    if (id > highest) return [name, `must be at most ${highest}, the "highestId" of line 1, received ${id}`];
    known.highestId = Math.max(known.highestId, id);
    return undefined;
  }

  return {
    /** The highest ids: of the todos and those that keys name, and of the categories. */
    known,

    /** Takes a category as one that is there, whatever its name. */
    know: (id: unknown) => void categories.add(id),

    ofCategory({ id }: Obeying<typeof CATEGORY>): Fault | undefined {
      categories.add(id);
      if (id <= known.highestCategoryId) return notAbove(known.highestCategoryId, id);
      known.highestCategoryId = id;
      return undefined;
    },

    ofTodo({ id, categoryId }: Obeying<typeof TODO>): Fault | undefined {
      if (id <= lastId) return notAbove(lastId, id);
      lastId = id;
      if (categories.has(categoryId)) return atMost('id', id);
      return ['categoryId', `must be the id of a category, received ${categoryId}`];
    },

    ofKey({ key, todoId }: Obeying<typeof KEY>): Fault | undefined {
      if (key <= lastKey) return ['key', 'must come after that of the line before, in the order of ASCII'];
      lastKey = key;
      return atMost('todoId', todoId);
    },
  };
}

const notAbove = (last: number, id: number): Fault => ['id', `must be above ${last}, received ${id}`];
