import type { Todo } from '../../src/shared-list/members.ts';

/** What a todo may be: its JSON, or undefined for one that may be gone. */
type Content = string | undefined;

/** What clients know of the todos that they alone change: what was answered, and what was asked and not answered. */
export class Ledger {
  readonly #todos = new Map<number, readonly Content[]>();
  readonly #unanswered = new Set<string>();
  acknowledged = 0;

  /** Somebody asks for a new todo with a title that nobody else uses. */
  asked(title: string): void {
    this.#unanswered.add(title);
  }

  added(todo: Todo): void {
    this.#unanswered.delete(todo.title);
    this.#todos.set(todo.id, [JSON.stringify(todo)]);
    this.acknowledged += 1;
  }

  /** Somebody asks for a change. Call the result when it was answered. */
  changing(id: number, after: Content): () => void {
    this.#todos.set(id, [...(this.#todos.get(id) ?? []), after]);
    return () => {
      this.#todos.set(id, [after]);
      this.acknowledged += 1;
    };
  }

  /** Nothing was changed after all. */
  refused(id: number): void {
    this.#todos.set(id, this.#todos.get(id)?.slice(0, -1) ?? []);
  }

  /** Nothing was added after all. */
  notAdded(title: string): void {
    this.#unanswered.delete(title);
  }

  /**
   * What a list says that it should not, one line each; then the list counts as known.
   */
  compare(list: readonly Todo[]): readonly string[] {
    const faults = list.flatMap((todo) => this.#faultOf(todo));
    const present = new Set(list.map(({ id }) => id));
    for (const [id, contents] of this.#todos) {
      if (present.has(id)) continue;
      if (!contents.includes(undefined)) faults.push(`todo ${id} is lost: ${contents.join(' or ')}`);
      this.#todos.delete(id);
    }
    this.#unanswered.clear();
    return faults;
  }

  #faultOf(todo: Todo): readonly string[] {
    const json = JSON.stringify(todo);
    const contents = this.#todos.get(todo.id);
    this.#todos.set(todo.id, [json]);
    if (contents !== undefined) {
      return contents.includes(json)
        ? []
        : [`todo ${todo.id} is ${json} instead of ${contents.join(' or ')}`];
    }
    return this.#unanswered.delete(todo.title) ? [] : [`nobody asked for ${json}, or for it once`];
  }
}
