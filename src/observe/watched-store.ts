import type { TodoStore } from '../store/store.ts';

/** The same store, with every operation run by `around`, which returns what `run` does, a promise included. */
export function watchStore(store: TodoStore, around: <T>(operation: string, run: () => T) => T): TodoStore {
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

/** The class of an error: a closed list, unlike its message. */
export function errorType(error: unknown): string {
  return error instanceof Error ? error.name : '_OTHER';
}
