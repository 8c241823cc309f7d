import type { TodoStore } from '../shared-list/store.ts';

export type StoreOperation = 'list' | 'find' | 'add' | 'replace' | 'remove';

/** Runs an operation and returns what it returned, a promise included. */
export type Around = <T>(operation: StoreOperation, run: () => T) => T;

/** The same store, with every operation run by `around`. */
export function watchStore(store: TodoStore, around: Around): TodoStore {
  return {
    list: (...wanted) => around('list', () => store.list(...wanted)),
    find: (...wanted) => around('find', () => store.find(...wanted)),
    add: (...wanted) => around('add', () => store.add(...wanted)),
    replace: (...wanted) => around('replace', () => store.replace(...wanted)),
    remove: (...wanted) => around('remove', () => store.remove(...wanted)),
    check: () => store.check(),
    ...(store.connections === undefined ? {} : { connections: store.connections.bind(store) }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** Calls `ended` when what `run` returns is settled, with the error if there was one. */
export function settled<T>(run: () => T, ended: (error?: unknown) => void): T {
  let result: T;
  try {
    result = run();
  } catch (error) {
    ended(error);
    throw error;
  }
  if (result instanceof Promise) result.then(() => ended(), ended);
  else ended();
  return result;
}
