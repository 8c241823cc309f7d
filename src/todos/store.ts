import type { Mark } from '../events.ts';
import { Cannot, type Reason } from '../lib/cannot.ts';
import type { Body } from '../lib/pieces.ts';
import {
  type CreateKey,
  type EntityTag,
  MAX_ID,
  type NewTodo,
  type Preconditions,
  type Replacement,
  type TodoRepresentation,
} from './todo.ts';

/** Of the whole body. A client that takes gzip takes both. */
export type Coding = 'identity' | 'gzip';

/** The whole list as it goes over the wire, and the tag of exactly these bytes. */
export interface ListRepresentation {
  /** Text where it is short, else the pieces that versions share. */
  readonly body: Body;
  readonly coding: Coding;
  /** Strong, and another for each coding (RFC 9110 §8.8.3.3). */
  readonly etag: EntityTag;
}

/**
 * Where todos are kept. A write is on disk when its promise resolves, and every request that starts later
 * sees it. What the specification expects to happen comes back as a value; a rejection is `StoreUnavailable`,
 * `StoreBroken`, `OutcomeUnknown`, a bug or a broken machine. A store that commits writes together marks the commit that a
 * write waited for; no decision reads that.
 */
export interface TodoStore extends AsyncDisposable {
  /** Every todo, ordered by id ascending, never older than the call. Synchronous when it is at hand. */
  list(admitted?: Coding, preconditions?: Preconditions): ListRepresentation | Promise<ListRepresentation>;

  /** Synchronous when the todo is at hand. It may throw what it would otherwise reject with, and so may `list`. */
  find(id: number): TodoRepresentation | undefined | Promise<TodoRepresentation | undefined>;

  /**
   * Rejects with `IdsExhausted` when every id up to 2147483647 has been given out. With a key, whose fate is the todo's
   * (contract I1; I6): one that was used within 24 hours makes nothing, and gives the todo as it was made.
   */
  add(todo: NewTodo, once?: Once, mark?: Mark): Promise<CreateOutcome>;

  /**
   * The outcomes are decided in this order (contract Endpoints A, rule 2; Order 5).
   * The preconditions are looked at inside the write itself.
   */
  replace(
    id: number,
    replacement: Replacement,
    preconditions?: Preconditions,
    mark?: Mark,
  ): Promise<'replaced' | 'todo-missing' | 'category-missing' | 'precondition-failed'>;

  /** As `replace`. */
  remove(
    id: number,
    preconditions?: Preconditions,
    mark?: Mark,
  ): Promise<'removed' | 'todo-missing' | 'precondition-failed'>;

  /**
   * Asks the database itself, at little cost, whether it can be read and written. Rejects when it cannot, with
   * `StoreNotWritable` when it is one that takes no writes: the service is not ready then.
   */
  check(): Promise<void>;

  /** Each is looked up when it is read, and waits for no question to the database. */
  readonly sizes: StoreSizes;

  /** How many connections there are, and how many operations wait for one; only where there is a pool. */
  connections?(): PoolCounts;
}

/** A key, and the milliseconds to wait for another instance that has it under way. */
export interface Once extends CreateKey {
  readonly patienceMs: number;
}

/** `repeated`: made before, with the same key, and not now. `key-reused`: for another body. `in-progress`: another instance has the key under way still. */
export type CreateOutcome =
  | TodoRepresentation
  | { readonly repeated: TodoRepresentation }
  | 'category-missing'
  | 'key-reused'
  | 'in-progress';

export interface PoolCounts {
  readonly used: number;
  readonly idle: number;
  readonly waiting: number;
}

/** Bytes. */
export interface StoreSizes {
  /** On disk: by file where the store has files, else of all tables with their indexes. What is not known is missing. */
  readonly database: readonly { readonly file?: 'main' | 'wal'; readonly bytes: number }[];
  /** Of the list in memory: its chunks, and what is compressed of them. */
  readonly list: number;
  /** Of single todos in memory, where they are kept. */
  readonly cache?: number;
}

/** The 32-bit range of ids is used up; ids are never reused (contract D5). */
export class IdsExhausted extends Error {
  override readonly name = 'IdsExhausted';
  constructor() {
    super(`Cannot create a todo: every id up to ${MAX_ID} has been given out, and ids are never reused`);
  }
}

/** Unreachable, locked too long or full: nothing was changed, and the next try may succeed (contract D9). */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The database answers, and takes no writes: nothing of it is served either, because it may be behind. */
export class StoreNotWritable extends StoreUnavailable {}

/**
 * The file was deleted, replaced or damaged, or the schema lacks something: nothing was changed, and trying again does not
 * help (contract D11; D12). An operator has to look after it.
 */
export class StoreBroken extends Error {
  override readonly name = 'StoreBroken';
}

/** Nobody knows whether the write was made; it is never repeated behind the client's back (contract D9). */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** A store that cannot be opened, and why: one line for people, without a password. */
export function notOpened(database: string, fault: string, reason: Reason, cause?: unknown): Cannot {
  return new Cannot(reason, `Cannot open the database "${database}": ${fault}`, { cause });
}
