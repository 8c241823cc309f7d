import type { EntityTags, Preconditions } from '../entity-tag.ts';
import type { ListRepresentation, ListWish } from '../list-version.ts';
import { represent, type TodoRepresentation } from '../representation.ts';
import type { Connections, TodoStore } from '../store.ts';
import type { NewTodo, Replacement } from '../todo.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { isForeignKeyRefusal } from './error.ts';
import { findTogether } from './find.ts';
import type { PostgresList } from './list.ts';

const ADD = 'INSERT INTO todos (title, category_id) VALUES ($1, $2) RETURNING id';
const REPLACE = 'UPDATE todos SET title = $2, done = $3, category_id = $4 WHERE id = $1 RETURNING id';
const REMOVE = 'DELETE FROM todos WHERE id = $1 RETURNING id';

// The tag of `represent`, from the same text. The row is locked first and looked at as it is then, so that of
// writers with the same tag one wins; what fails first is said: todo, category, precondition.
const TAG = `'"' || left(encode(sha256(convert_to('{"id":' || id || ',"title":' || to_json(title)::text ||
  ',"done":' || done::text || ',"categoryId":' || category_id || '}', 'UTF8')), 'hex'), 32) || '"'`;
const locked = (match: string, noneMatch: string): string => `todo AS MATERIALIZED (
    SELECT id, ${TAG} AS tag FROM todos WHERE id = $1 FOR UPDATE
  ), admitted AS MATERIALIZED (
    SELECT id, (${match}::text[] IS NULL OR tag = ANY (${match}::text[])) AND
      (${noneMatch}::text[] IS NULL OR NOT ARRAY[tag, '*'] && ${noneMatch}::text[]) AS ok FROM todo
  )`;
const REPLACE_IF = `WITH ${locked('$5', '$6')}, decided AS MATERIALIZED (
    SELECT id, CASE WHEN NOT EXISTS (SELECT FROM categories WHERE id = $4) THEN 'category-missing'
      WHEN ok THEN 'replaced' ELSE 'precondition-failed' END AS outcome FROM admitted
  ), changed AS (
    UPDATE todos SET title = $2, done = $3, category_id = $4 FROM decided
    WHERE todos.id = decided.id AND outcome = 'replaced'
  ) SELECT outcome FROM decided`;
const REMOVE_IF = `WITH ${locked('$2', '$3')}, removed AS (
    DELETE FROM todos USING admitted WHERE todos.id = admitted.id AND ok
  ) SELECT ok FROM admitted`;

/** The list in a PostgreSQL database, which other instances change as well. One statement is one round trip. */
export class PostgresTodoStore implements TodoStore {
  readonly #pool: ConnectionPool;
  readonly #find: ReturnType<typeof findTogether>;
  readonly #list: PostgresList;
  readonly #owned: AsyncDisposable;

  /** @param owned What ends with the store, its pool included. */
  constructor(pool: ConnectionPool, list: PostgresList, owned: AsyncDisposable) {
    this.#pool = pool;
    this.#find = findTogether(pool);
    this.#list = list;
    this.#owned = owned;
  }

  async list(wish: ListWish = { gzip: false }): Promise<ListRepresentation> {
    const version = await this.#list.current();
    return version.select(wish);
  }

  find(id: number): Promise<TodoRepresentation | undefined> {
    return this.#find(id);
  }

  async add({ title, categoryId }: NewTodo): Promise<TodoRepresentation | 'category-missing'> {
    try {
      const values = [title, categoryId];
      const [added] = await this.#pool.write<{ id: number }>({ name: 'add', text: ADD, values });
      if (added === undefined) throw new Error('INSERT returned no id');
      return represent({ id: added.id, title, done: false, categoryId });
    } catch (error) {
      if (isForeignKeyRefusal(error)) return 'category-missing';
      throw error;
    }
  }

  async replace(id: number, { title, done, categoryId }: Replacement, preconditions: Preconditions = {}) {
    const values = [id, title, done, categoryId];
    try {
      if (asksNothing(preconditions)) {
        const rows = await this.#pool.write({ name: 'replace', text: REPLACE, values });
        return rows.length === 0 ? 'todo-missing' : 'replaced';
      }
      const [row] = await this.#pool.write<{ outcome: Decided }>({
        name: 'replace-if',
        text: REPLACE_IF,
        values: [...values, ...tagLists(preconditions)],
      });
      return row?.outcome ?? 'todo-missing';
    } catch (error) {
      if (isForeignKeyRefusal(error)) return 'category-missing';
      throw error;
    }
  }

  async remove(id: number, preconditions: Preconditions = {}) {
    if (asksNothing(preconditions)) {
      const rows = await this.#pool.write({ name: 'remove', text: REMOVE, values: [id] });
      return rows.length === 0 ? 'todo-missing' : 'removed';
    }
    const [row] = await this.#pool.write<{ ok: boolean }>({
      name: 'remove-if',
      text: REMOVE_IF,
      values: [id, ...tagLists(preconditions)],
    });
    if (row === undefined) return 'todo-missing';
    return row.ok ? 'removed' : 'precondition-failed';
  }

  async check(): Promise<void> {
    await this.#pool.read({ name: 'check', text: 'SELECT 1' });
  }

  connections(): Connections {
    return this.#pool.counts();
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#owned[Symbol.asyncDispose]();
  }
}

type Decided = 'replaced' | 'category-missing' | 'precondition-failed';

function asksNothing({ ifMatch, ifNoneMatch }: Preconditions): boolean {
  return ifMatch === undefined && ifNoneMatch === undefined;
}

/**
 * `If-Match` compares strongly, so a weak tag stays one that no todo has, and `*` asks nothing of a todo that
 * is there; `If-None-Match` compares weakly, and its `*` stands for every tag (RFC 9110 §13.1).
 */
function tagLists({ ifMatch, ifNoneMatch }: Preconditions): [match: unknown, noneMatch: unknown] {
  return [
    ifMatch === '*' || ifMatch === undefined ? null : ifMatch,
    ifNoneMatch === undefined ? null : strong(ifNoneMatch),
  ];
}

function strong(tags: EntityTags): readonly string[] {
  return tags === '*' ? ['*'] : tags.map((tag) => tag.replace(/^W\//, ''));
}
