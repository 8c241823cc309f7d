import type { Obeying, Rules } from '../../shared-list/members.ts';
import type { CATEGORY, KEY, TODO } from './lines.ts';

/** The member of a row or a line that breaks a rule, and the reason for people, behind its name. */
export type Fault = readonly [name: string, reason: string];

type Judged<Of extends Rules> = { readonly obeying: Obeying<Of> } | { readonly fault: Fault };

/** The value when it obeys every rule, else the fault of its first member that does not. */
export function judge<Of extends Rules>(value: object, rules: Of): Judged<Of> {
  const broken = rules.find(({ name, is }) => !is(Reflect.get(value, name)));
  if (broken === undefined) return { obeying: value as Obeying<Of> };
  const member: unknown = Reflect.get(value, broken.name);
  const isBytes = member instanceof Uint8Array;
  const reason = isBytes ? 'must be text in UTF-8' : broken.faults(member).join(' and ');
  return { fault: [broken.name, reason] };
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
