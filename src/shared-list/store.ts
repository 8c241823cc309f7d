import type { NewTodo, Replacement, Todo } from './todo.ts';

/**
 * Where todos are kept. A write is on disk when its promise resolves. What the specification expects to
 * happen comes back as a value; a rejection is a bug or a broken machine.
 */
export interface TodoStore extends AsyncDisposable {
  /** Every todo, ordered by id ascending. */
  list(): Promise<readonly Todo[]>;
  find(id: number): Promise<Todo | undefined>;
  /** Rejects with `IdsExhausted` when every id up to 2147483647 has been given out. */
  add(todo: NewTodo): Promise<Todo | 'category-missing'>;
  /** Decides `todo-missing` before `category-missing` (specification, Endpoints, rule 2). */
  replace(id: number, replacement: Replacement): Promise<'replaced' | 'todo-missing' | 'category-missing'>;
  remove(id: number): Promise<'removed' | 'todo-missing'>;
}

/** The 32-bit range of ids is used up; ids are never reused (contract D5). */
export class IdsExhausted extends Error {
  override readonly name = 'IdsExhausted';
  constructor() {
    super('Cannot create a todo: every id up to 2147483647 has been given out, and ids are never reused');
  }
}

/**
 * A store cannot be opened. The message is one line for people, without a password; the exit code is
 * `main.ts`'s affair.
 */
export class StoreNotOpened extends Error {
  override readonly name = 'StoreNotOpened';
  /**
   * `owned`: another process serves the same file (contract D6, exit code 75). `unusable`: not a database,
   * a newer schema, a read-only place, an engine that is too old (exit code 69).
   */
  readonly reason: 'owned' | 'unusable';
  constructor(reason: 'owned' | 'unusable', message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
