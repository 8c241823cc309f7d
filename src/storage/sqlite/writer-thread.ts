import type { DatabaseSync } from 'node:sqlite';
import { orUndefined } from '../../lib/errors.ts';
import type { CreateKey } from '../../shared-list/create-keys.ts';
import { type Preconditions, preconditionsHold } from '../../shared-list/entity-tags.ts';
import { represent, type TodoMembers } from '../../shared-list/members.ts';
import type { TodoStore } from '../../shared-list/store.ts';
import { makeDurable } from './durability.ts';
import {
  type Failure,
  failureBy,
  isForeignKeyRefusal,
  isMachineFault,
  isRefusal,
  isSyncFailure,
  isUnprepared,
  RowLeftOut,
  refused,
} from './error.ts';
import { lookAt } from './file.ts';
import { ADD, columnValues, prepareFind, prepareKeys, REPLACE } from './row.ts';
import { pragma } from './schema.ts';
import { serveThread } from './thread.ts';

const REMOVE = 'DELETE FROM todos WHERE id = ?';
const FIND_CATEGORY = 'SELECT 1 FROM categories WHERE id = ?';

interface Add {
  readonly kind: 'add';
  readonly todo: TodoMembers;
  readonly once: CreateKey | undefined;
}

interface Remove {
  readonly kind: 'remove';
  readonly id: number;
  readonly preconditions: Preconditions;
}

interface Replace extends Omit<Remove, 'kind'> {
  readonly kind: 'replace';
  readonly todo: TodoMembers;
}

/** A change, in a form that crosses threads. A probe changes nothing: it shows that a commit reaches the disk. */
export type Write = Add | Replace | Remove | { readonly kind: 'probe' };

/** The outcome of a write of this kind, as the store names it. */
export type Decided<Kind extends Write['kind'] = Write['kind']> = Kind extends 'add' | 'replace' | 'remove'
  ? Awaited<ReturnType<TodoStore[Kind]>>
  : 'written';

/** The outcome of one write. A failure is that of this write alone. */
export type Outcome = Decided | Failure;

export type BatchResult = { readonly outcomes: readonly Outcome[] } | Failure;

/**
 * Commits the writes of a batch in one transaction, so that they share one sync of the disk. Each write has a savepoint
 * of its own: a refused write leaves the others alone. The changes are on disk when the call returns, in the file that
 * stands at its path. Outcomes are in the order of the writes.
 *
 * Look for the file, commit, look again, then acknowledge: `src/storage/sqlite/writer-thread.test.ts`,
 * `test/storage/sqlite-file.test.ts`. Once `COMMIT` has begun, a failed sync is an unknown outcome:
 * `test/storage/sqlite-failures.test.ts`, `test/long/sqlite-crash.test.ts`.
 *
 * @param pollElsewhere Called when no other program can write any more, before the writes are decided.
 * @param look Looks for the file, before the transaction and after the commit.
 */
export function prepareBatches(
  database: DatabaseSync,
  pollElsewhere: () => void,
  look: () => Failure | undefined,
): (writes: readonly Write[]) => BatchResult {
  const statements = () => ({
    findTodo: prepareFind(database),
    addTodo: database.prepare(ADD),
    replaceTodo: database.prepare(REPLACE),
    removeTodo: database.prepare(REMOVE),
    keys: prepareKeys(database),
    findCategory: database.prepare(FIND_CATEGORY),
  });
  const { findTodo, addTodo, replaceTodo, removeTodo, keys, findCategory } = statements();
  const savepoint = database.prepare('SAVEPOINT one');
  const undo = database.prepare('ROLLBACK TO one');
  const release = database.prepare('RELEASE one');

  function attempt(write: Write): Outcome {
    savepoint.run();
    try {
      const outcome = decide(write);
      release.run();
      return outcome;
    } catch (error) {
      // A full disk, or a trigger, makes SQLite roll back the whole transaction, and with it the savepoint.
      if (isMachineFault(error) || !database.isTransaction) throw error;
      undo.run();
      release.run();
      const isOfCategory =
        isForeignKeyRefusal(error) &&
        'todo' in write &&
        findCategory.get(write.todo.categoryId) === undefined;
      if (isOfCategory) return 'category-missing';
      // A statement that can be prepared has failed by what a trigger, a check or a column of others computes.
      const isComputed = isUnprepared(error) && orUndefined(statements) !== undefined;
      return isComputed ? refused(error) : failureBy(error);
    }
  }

  function decide(write: Write): Decided {
    switch (write.kind) {
      case 'add':
        return addOne(write);
      case 'replace':
        return replaceOne(write);
      case 'remove':
        return removeOne(write);
      case 'probe':
        // The version of the schema, unchanged: SQLite writes its page nevertheless.
        database.exec(`PRAGMA user_version = ${pragma(database, 'user_version')}`);
        return 'written';
    }
  }

  function addOne({ todo, once }: Add): Decided<'add'> {
    if (once !== undefined) {
      const used = keys.find(once.key);
      if (used?.body === once.body) return { repeated: represent({ id: used.id, ...todo }) };
      if (used !== undefined) return 'key-reused';
    }
    const { changes, lastInsertRowid } = addTodo.run(...columnValues(todo));
    if (changes === 0) throw new RowLeftOut();
    const id = Number(lastInsertRowid);
    if (once !== undefined) keys.keep(once, id);
    return represent({ id, ...todo });
  }

  /** A missing row violates no foreign key: the todo is missing before its category is (contract Endpoints A, rule 2). */
  function replaceOne(write: Replace): Decided<'replace'> {
    const holds = holdFor(write);
    if (replaceTodo.run(...columnValues(write.todo), write.id).changes === 0) return missing(write.id);
    if (!holds) undo.run();
    return holds ? 'replaced' : 'precondition-failed';
  }

  function removeOne(write: Remove): Decided<'remove'> {
    const holds = holdFor(write);
    if (removeTodo.run(write.id).changes === 0) return missing(write.id);
    if (!holds) undo.run();
    return holds ? 'removed' : 'precondition-failed';
  }

  /** The outcome of a change without a row. @throws {RowLeftOut} when the todo is there. */
  function missing(id: number): 'todo-missing' {
    if (findTodo(id) === undefined) return 'todo-missing';
    throw new RowLeftOut();
  }

  /**
   * Whether the preconditions hold. They are compared before the change, under the same lock, and their failure is
   * answered after it: a precondition matters only where the write would have succeeded (RFC 9110 §13.2.1; contract Order
   * 5).
   */
  function holdFor({ id, preconditions }: Replace | Remove): boolean {
    if (preconditions.ifMatch === undefined && preconditions.ifNoneMatch === undefined) return true;
    const todo = findTodo(id);
    return todo === undefined || preconditionsHold(preconditions, represent(todo).etag);
  }

  function alone(write: Write): Outcome | readonly Outcome[] {
    const result = commit([write]);
    return 'failure' in result ? result : result.outcomes;
  }

  function commit(writes: readonly Write[]): BatchResult {
    const before = look();
    if (before !== undefined) return before;
    let committing = false;
    try {
      database.exec('BEGIN IMMEDIATE');
      pollElsewhere();
      const outcomes = writes.map(attempt);
      committing = true;
      database.exec('COMMIT');
      const after = look();
      return after === undefined ? { outcomes } : { ...after, failure: 'unknown' };
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      // A refusal that ends the transaction is of one of its writes.
      if (isRefusal(error) && writes.length > 1) return { outcomes: writes.flatMap(alone) };
      const failure = failureBy(error);
      return committing && isSyncFailure(error) ? { ...failure, failure: 'unknown' } : failure;
    }
  }

  return commit;
}

/** Milliseconds to wait for another program's write. With the batch before, a refusal has to come within 2.5 s. */
const BUSY_TIMEOUT_MS = 1_000;

/** Milliseconds between two polls for another program's changes, which are to be seen within 100 ms. */
const POLL_INTERVAL_MS = 50;

serveThread<readonly Write[], BatchResult>(BUSY_TIMEOUT_MS, (database, file, onChanged) => {
  makeDurable(database);
  const pollElsewhere = preparePoll(database, onChanged);
  // A database that cannot be read now may be read in a moment; what else is wrong, the next write says.
  setInterval(() => orUndefined(pollElsewhere), POLL_INTERVAL_MS).unref();
  const commit = prepareBatches(database, pollElsewhere, () => lookAt(file));
  // Data that was read before may be older than a change that this connection has not seen.
  onChanged();
  return (writes) => ({ answer: commit(writes) });
});

/**
 * Finds changes that another connection has committed since the last poll. Changes of this connection, and reads of
 * others, do not count: https://www.sqlite.org/pragma.html#pragma_data_version
 */
function preparePoll(database: DatabaseSync, onChanged: () => void): () => void {
  const statement = database.prepare('PRAGMA data_version');
  // SQLite prepares by the schema that it knows: a refusal by an earlier schema ("it is a view") would stay.
  const learnSchema = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1');
  let seen = statement.get()?.data_version;
  return () => {
    const version = statement.get()?.data_version;
    if (version === seen) return;
    learnSchema.get();
    onChanged();
    seen = version;
  };
}
