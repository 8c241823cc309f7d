import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { IdsExhausted, type TodoStore } from '../store.ts';
import type { NewTodo, Replacement, Todo } from '../todo.ts';
import { resultCode, SQLITE_CONSTRAINT_CHECK, SQLITE_CONSTRAINT_FOREIGNKEY } from './error.ts';

const LIST = 'SELECT id, title, done, category_id FROM todos ORDER BY id';
const FIND = 'SELECT id, title, done, category_id FROM todos WHERE id = ?';
const ADD = 'INSERT INTO todos (title, category_id) VALUES (?, ?)';
const REPLACE = 'UPDATE todos SET title = ?, done = ?, category_id = ? WHERE id = ?';
const REMOVE = 'DELETE FROM todos WHERE id = ?';

/** The list in one SQLite file. One statement decides each write; its commit is synced when it returns. */
export class SqliteTodoStore implements TodoStore {
  readonly #list: StatementSync;
  readonly #find: StatementSync;
  readonly #add: StatementSync;
  readonly #replace: StatementSync;
  readonly #remove: StatementSync;
  readonly #parts: Disposable;

  /** @param parts What else ends with the store, the database included. */
  constructor(database: DatabaseSync, parts: Disposable) {
    this.#list = database.prepare(LIST);
    this.#find = database.prepare(FIND);
    this.#add = database.prepare(ADD);
    this.#replace = database.prepare(REPLACE);
    this.#remove = database.prepare(REMOVE);
    this.#parts = parts;
  }

  async list(): Promise<readonly Todo[]> {
    return this.#list.all().map(todoOf);
  }

  async find(id: number): Promise<Todo | undefined> {
    const row = this.#find.get(id);
    return row === undefined ? undefined : todoOf(row);
  }

  async add({ title, categoryId }: NewTodo): Promise<Todo | 'category-missing'> {
    try {
      const { lastInsertRowid } = this.#add.run(title, categoryId);
      return { id: Number(lastInsertRowid), title, done: false, categoryId };
    } catch (error) {
      if (resultCode(error) === SQLITE_CONSTRAINT_FOREIGNKEY) return 'category-missing';
      throw exhausted(error) ? new IdsExhausted() : error;
    }
  }

  async replace(
    id: number,
    { title, done, categoryId }: Replacement,
  ): Promise<'replaced' | 'todo-missing' | 'category-missing'> {
    try {
      const { changes } = this.#replace.run(title, done ? 1 : 0, categoryId, id);
      return changes === 0 ? 'todo-missing' : 'replaced';
    } catch (error) {
      if (resultCode(error) === SQLITE_CONSTRAINT_FOREIGNKEY) return 'category-missing';
      throw error;
    }
  }

  async remove(id: number): Promise<'removed' | 'todo-missing'> {
    return this.#remove.run(id).changes === 0 ? 'todo-missing' : 'removed';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#parts[Symbol.dispose]();
  }
}

/** SQLite's message names the constraint that refused; the schema gives it that name. */
function exhausted(error: unknown): boolean {
  return (
    resultCode(error) === SQLITE_CONSTRAINT_CHECK &&
    error instanceof Error &&
    error.message.endsWith('ids_exhausted')
  );
}

function todoOf(row: ReturnType<StatementSync['get']> & object): Todo {
  return {
    id: Number(row.id),
    title: String(row.title),
    done: row.done === 1,
    categoryId: Number(row.category_id),
  };
}
