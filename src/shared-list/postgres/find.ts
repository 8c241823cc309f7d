import { represent, type TodoRepresentation } from '../representation.ts';
import type { Todo } from '../todo.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { SELECTED } from './row.ts';

const FIND = `SELECT ${SELECTED} FROM todos WHERE id = ANY($1)`;

interface Waiting {
  readonly id: number;
  resolve(todo: TodoRepresentation | undefined): void;
  reject(error: unknown): void;
}

/**
 * Finds todos by id. Those that are asked for in one turn of the event loop come with one statement: it costs the
 * server and this process more than a row. Who asks later waits for a connection of their own, and no longer
 * than others do.
 */
export function findTogether(pool: ConnectionPool): (id: number) => Promise<TodoRepresentation | undefined> {
  let gathered: Waiting[] = [];

  async function ask(): Promise<void> {
    const batch = gathered;
    gathered = [];
    try {
      const ids = batch.map(({ id }) => id);
      const rows = await pool.read<Todo>({ name: 'find', text: FIND, values: [`{${ids.join(',')}}`] });
      const found = new Map(rows.map((todo) => [todo.id, represent(todo)]));
      for (const { id, resolve } of batch) resolve(found.get(id));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (id) =>
    new Promise((resolve, reject) => {
      if (gathered.length === 0) setImmediate(ask);
      gathered.push({ id, resolve, reject });
    });
}
