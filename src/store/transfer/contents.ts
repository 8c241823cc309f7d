import type { CreateKey } from '../create-key.ts';
import type { Category } from '../operator.ts';
import type { Replacement, Todo } from '../todo.ts';

/** What an export says of itself in its first line. */
export interface Counts {
  readonly categories: number;
  readonly todos: number;
  readonly keys: number;
}

/** A create that may be repeated: its key is good for 24 hours. */
export interface KeptKey extends CreateKey {
  /** Of the todo that was made; it may be gone. */
  readonly todoId: number;
  /** Whole seconds since 1970. */
  readonly at: number;
}

/** A todo that obeys every rule, but for its category, which only the database knows. */
export type ParsedTodo = Replacement & { readonly id: number };

/** Some of the rows of an export, in its order: categories and todos by id, keys by key. */
export interface Rows {
  readonly categories: readonly Category[];
  readonly todos: readonly ParsedTodo[];
  readonly keys: readonly KeptKey[];
}

/** An export that was read to its end, and is what was written. */
export interface Contents extends Counts {
  /** No higher id of a todo was ever given out; 0 when none was. */
  readonly highestId: number;
  /** The same of categories. */
  readonly highestCategoryId: number;
}

/** A database as it is at one moment, whatever is written meanwhile. Rejects with `StoreUnavailable`. */
export interface ExportSource extends AsyncDisposable {
  readonly counts: Counts;
  /** As in `Contents`. */
  readonly highestId: number;
  /** Ordered by id. */
  readonly categories: readonly Category[];
  /** The todos after an id, as many as make one part; none after the last. */
  todosAfter(id: number): Promise<readonly Todo[]>;
  /** The keys of the last 24 hours after a key, as many as make one part. */
  keysAfter(key: string): Promise<readonly KeptKey[]>;
  /** Called now and then while nobody asks for the next part, so that nothing between gives the connection up. */
  touch(): Promise<void>;
  /** Called after the last part. Rejects when it was not one moment. */
  finish(): Promise<void>;
}

/** Takes what is imported in one transaction. Disposed of before `commit` has resolved, it leaves every row as it was. */
export interface ImportTarget extends AsyncDisposable {
  /** Rejects with `StoreUnavailable`. */
  add(rows: Rows): Promise<void>;
  /** Rejects with `OutcomeUnknown` when nobody knows whether the rows are there. */
  commit(contents: Contents): Promise<void>;
  /** As disposing, at once: the process is about to end. */
  abandon(): void;
}

/** What became of todos that were to be put back. The refused ones are the first ten. */
export type Restored =
  | { readonly made: number }
  | { readonly existing: readonly number[] }
  | { readonly orphans: readonly { readonly id: number; readonly categoryId: number }[] };

/** Puts back todos that a database lacks, beside the service. Nothing is locked before `commit`. */
export interface RestoreTarget extends AsyncDisposable {
  /** Keeps todos at hand. Rejects with `StoreUnavailable`. */
  stage(todos: readonly ParsedTodo[]): Promise<void>;
  /**
   * Makes all of them or none; ids that are to come are above them. Every instance shows them when it resolves.
   *
   * @param skipExisting Those that are there are left out; else they are refused.
   */
  commit(skipExisting: boolean): Promise<Restored>;
}
