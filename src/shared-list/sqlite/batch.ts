import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { admitsWrite, type Preconditions } from '../entity-tag.ts';
import type { CreateKey } from '../idempotency-key.ts';
import { represent } from '../representation.ts';
import type { NewTodo, Replacement } from '../todo.ts';
import { isForeignKeyRefusal, isIdsExhausted, isMachineFault, isSyncFailure } from './error.ts';
import { type Failure, failureBy } from './failure.ts';
import { prepareKeys } from './keys.ts';
import { ADD, columnValues, prepareFind, REPLACE } from './row.ts';
import { pragma } from './schema.ts';

const REMOVE = 'DELETE FROM todos WHERE id = ?';

interface OfOneTodo {
  readonly id: number;
  readonly preconditions: Preconditions;
}

interface Add extends NewTodo {
  readonly kind: 'add';
  readonly once: CreateKey | undefined;
}

/** A change that somebody asks for, in a form that crosses threads. */
export type Write =
  | Add
  | ({ readonly kind: 'replace' } & OfOneTodo & Replacement)
  | ({ readonly kind: 'remove' } & OfOneTodo);

/** Shows that a commit reaches the disk, and changes nothing. */
export interface Probe {
  readonly kind: 'probe';
}

/** What came of a write, by its kind. A todo that was added is known by its id; `repeated`: by the key, before. */
export interface Outcomes {
  readonly add: number | { readonly repeated: number } | 'category-missing' | 'ids-exhausted' | 'key-reused';
  readonly replace: 'replaced' | 'todo-missing' | 'category-missing' | 'precondition-failed';
  readonly remove: 'removed' | 'todo-missing' | 'precondition-failed';
  readonly probe: 'written';
}

/** A failure is that of one write alone. */
export type Outcome = Outcomes[keyof Outcomes] | Failure;

export type BatchResult = { readonly outcomes: readonly Outcome[] } | Failure;

/**
 * Commits writes that arrived together in one transaction, so that they share one sync of the disk. Each has
 * a savepoint of its own: one that is refused leaves its neighbours alone.
 */
export class Batches {
  readonly #database: DatabaseSync;
  readonly #find: ReturnType<typeof prepareFind>;
  readonly #add: StatementSync;
  readonly #replace: StatementSync;
  readonly #remove: StatementSync;
  readonly #keys: ReturnType<typeof prepareKeys>;
  readonly #savepoint: StatementSync;
  readonly #undo: StatementSync;
  readonly #release: StatementSync;
  readonly #lookElsewhere: () => void;
  readonly #fileChange: () => string | undefined;

  /**
   * @param lookElsewhere Called before a batch is committed, when nobody else can write any more.
   * @param fileChange Called after each commit: what became of the file, for people, when it is gone.
   */
  constructor(database: DatabaseSync, lookElsewhere: () => void, fileChange: () => string | undefined) {
    this.#database = database;
    this.#lookElsewhere = lookElsewhere;
    this.#fileChange = fileChange;
    this.#find = prepareFind(database);
    this.#add = database.prepare(ADD);
    this.#replace = database.prepare(REPLACE);
    this.#remove = database.prepare(REMOVE);
    this.#keys = prepareKeys(database);
    this.#savepoint = database.prepare('SAVEPOINT one');
    this.#undo = database.prepare('ROLLBACK TO one');
    this.#release = database.prepare('RELEASE one');
  }

  /**
   * What was changed is on disk when it returns, in the file that everybody knows. Outcomes are in the order of the
   * writes.
   */
  commit(writes: readonly (Write | Probe)[]): BatchResult {
    let committing = false;
    try {
      this.#database.exec('BEGIN IMMEDIATE');
      this.#lookElsewhere();
      const outcomes = writes.map((write) => this.#attempt(write));
      committing = true;
      this.#database.exec('COMMIT');
      const gone = this.#fileChange();
      return gone === undefined ? { outcomes } : { failure: 'unknown', trouble: 'gone', message: gone };
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      const failure = failureBy(error);
      return committing && isSyncFailure(error) ? { ...failure, failure: 'unknown' } : failure;
    }
  }

  #attempt(write: Write | Probe): Outcome {
    this.#savepoint.run();
    try {
      const outcome = this.#decide(write);
      this.#release.run();
      return outcome;
    } catch (error) {
      // A full disk makes SQLite give up the whole transaction, and with it the savepoint.
      if (isMachineFault(error) || !this.#database.isTransaction) throw error;
      this.#undo.run();
      this.#release.run();
      return failureBy(error);
    }
  }

  #decide(write: Write | Probe): Outcomes[keyof Outcomes] {
    switch (write.kind) {
      case 'add':
        return this.#addOne(write);
      case 'replace':
        return this.#replaceOne(write);
      case 'remove':
        return this.#removeOne(write);
      case 'probe':
        return this.#writePage();
    }
  }

  /** The version of the schema as it is: SQLite writes its page all the same. */
  #writePage(): Outcomes['probe'] {
    this.#database.exec(`PRAGMA user_version = ${pragma(this.#database, 'user_version')}`);
    return 'written';
  }

  #addOne({ once, ...todo }: Add): Outcomes['add'] {
    if (once === undefined) return this.#insert(todo);
    const used = this.#keys.find(once.key);
    if (used !== undefined) return used.body === once.body ? { repeated: used.id } : 'key-reused';
    const added = this.#insert(todo);
    if (typeof added === 'number') this.#keys.keep(once, added);
    return added;
  }

  #insert(todo: NewTodo): Exclude<Outcomes['add'], object | 'key-reused'> {
    try {
      return Number(this.#add.run(...columnValues({ ...todo, done: false })).lastInsertRowid);
    } catch (error) {
      if (isForeignKeyRefusal(error)) return 'category-missing';
      if (isIdsExhausted(error)) return 'ids-exhausted';
      throw error;
    }
  }

  #replaceOne(write: OfOneTodo & Replacement): Outcomes['replace'] {
    const admitted = this.#admits(write);
    try {
      const { changes } = this.#replace.run(...columnValues(write), write.id);
      if (changes === 0) return 'todo-missing';
    } catch (error) {
      if (isForeignKeyRefusal(error)) return 'category-missing';
      throw error;
    }
    if (!admitted) this.#undo.run();
    return admitted ? 'replaced' : 'precondition-failed';
  }

  #removeOne(write: OfOneTodo): Outcomes['remove'] {
    const admitted = this.#admits(write);
    if (this.#remove.run(write.id).changes === 0) return 'todo-missing';
    if (!admitted) this.#undo.run();
    return admitted ? 'removed' : 'precondition-failed';
  }

  /**
   * Looked at before the change, under the same lock, and answered after it: a precondition matters only
   * where the write would have succeeded (RFC 9110 §13.2.1; contract, Order of checks 5).
   */
  #admits({ id, preconditions }: OfOneTodo): boolean {
    if (preconditions.ifMatch === undefined && preconditions.ifNoneMatch === undefined) return true;
    const todo = this.#find(id);
    return todo === undefined || admitsWrite(preconditions, represent(todo).etag);
  }
}
