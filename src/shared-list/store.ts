import type { Commit } from '../events.ts';
import type { Body } from '../lib/answer-body.ts';
import { OperatorError, type Reason } from '../lib/operator-error.ts';
import type { CreateKey } from './create-keys.ts';
import type { EntityTag, Preconditions } from './entity-tags.ts';
import { MAX_ID, type TodoMembers, type TodoRepresentation } from './members.ts';

/** A coding of the whole body. A client that takes gzip takes both. */
export type Coding = 'identity' | 'gzip';

/** The whole list as it is sent, and the tag of exactly these bytes. */
export interface ListRepresentation {
  /** Text where it is short, else the pieces that versions share. */
  readonly body: Body;
  readonly coding: Coding;
  /** Strong, and different for each coding (RFC 9110 §8.8.3.3). */
  readonly etag: EntityTag;
}

/** Takes the commit of a write, as soon as it has ended. */
export type OnCommitted = (commit: Commit) => void;

/**
 * The store of todos. A write is on disk when its promise resolves, and every request that starts later sees it. Outcomes
 * that the specification expects are values; a rejection is `StoreUnavailable`, `StoreBroken`, `OutcomeUnknown`, a bug or
 * a broken machine. A store that commits writes together reports the commit of each write.
 */
export interface TodoStore extends AsyncDisposable {
  /** Every todo, ordered by id ascending, never older than the call. Synchronous when the list is in memory. */
  list(admitted?: Coding, preconditions?: Preconditions): ListRepresentation | Promise<ListRepresentation>;

  /** Synchronous when the todo is in memory. `find` and `list` may throw what they would otherwise reject with. */
  find(id: number): TodoRepresentation | undefined | Promise<TodoRepresentation | undefined>;

  /**
   * Rejects with `IdsExhausted` when every id up to 2147483647 has been given out. A key and its todo are stored or lost
   * together (contract I1; I6): a key that was used within 24 hours makes nothing, and gives the todo as it was made.
   */
  add(todo: TodoMembers, once?: Once, onCommitted?: OnCommitted): Promise<CreateOutcome>;

  /** The outcomes have this order (contract Endpoints A, rule 2; Order 5). The write compares the preconditions. */
  replace(
    id: number,
    replacement: TodoMembers,
    preconditions?: Preconditions,
    onCommitted?: OnCommitted,
  ): Promise<'replaced' | 'todo-missing' | 'category-missing' | 'precondition-failed'>;

  /** As `replace`. */
  remove(
    id: number,
    preconditions?: Preconditions,
    onCommitted?: OnCommitted,
  ): Promise<'removed' | 'todo-missing' | 'precondition-failed'>;

  /**
   * Asks the database itself, at little cost, whether it can be read and written. Rejects when it cannot.
   * `StoreNotWritable` is a database that takes no writes: the service is not ready then.
   */
  check(): Promise<void>;

  /** The sizes as they are now. It waits for no question to the database. */
  sizes(): StoreSizes;

  /** The number of connections, and of operations that wait for one; only where there is a pool. */
  connections?(): PoolCounts;
}

/** A key, and the milliseconds to wait for another instance whose create with it is under way. */
export interface Once extends CreateKey {
  readonly patienceMs: number;
}

/** `repeated`: made before. `key-reused`: of another body. `in-progress`: another instance's create is under way. */
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

/** Sizes in bytes. */
export interface StoreSizes {
  /** On disk: by file where the store has files, else of all tables with their indexes. An unknown size is missing. */
  readonly database: readonly { readonly file?: 'main' | 'wal'; readonly bytes: number }[];
  /** Of the list in memory: its chunks, and their compressed forms. */
  readonly list: number;
  /** Of single todos in memory, where the store keeps them. */
  readonly cache?: number;
}

/** The 32-bit range of ids is used up; ids are never reused (contract D5). */
export class IdsExhausted extends Error {
  override readonly name = 'IdsExhausted';
  constructor() {
    super(`Cannot create a todo: every id up to ${MAX_ID} has been given out, and ids are never reused`);
  }
}

/** The database is unreachable, locked or full: nothing was changed, and the next try may succeed (contract D9). */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The database answers, but takes no writes. It serves no reads either, because its data may be behind. */
export class StoreNotWritable extends StoreUnavailable {}

/** The file is gone or damaged, or the schema lacks something: an operator has to mend it (contract D11; D12). */
export class StoreBroken extends Error {
  override readonly name = 'StoreBroken';
}

/** The write may have been made or not; the service never repeats it by itself (contract D9). */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** A store that cannot be opened, and the reason: one line for people, without a password. */
export function notOpened(database: string, fault: string, reason: Reason, cause?: unknown): OperatorError {
  return new OperatorError(reason, `Cannot open the database "${database}": ${fault}`, { cause });
}
