import { setImmediate as turn } from 'node:timers/promises';
import { represent, type TodoRepresentation } from '../representation.ts';
import type { Todo } from '../todo.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { SELECTED } from './row.ts';

const FIND = `SELECT ${SELECTED} FROM todos WHERE id = ANY($1)`;

/**
 * Finds todos by id. Those that are asked for in one turn of the event loop come with one statement: it costs the
 * server and this process more than a row. Who asks later waits for a connection of their own, and no longer
 * than others do.
 */
export function findTogether(pool: ConnectionPool): (id: number) => Promise<TodoRepresentation | undefined> {
  let gathered: number[] = [];
  let found: Promise<ReadonlyMap<number, TodoRepresentation>>;

  async function ask(): Promise<ReadonlyMap<number, TodoRepresentation>> {
    await turn();
    const ids = gathered;
    gathered = [];
    const rows = await pool.read<Todo>({ name: 'find', text: FIND, values: [`{${ids.join(',')}}`] });
    return new Map(rows.map((todo) => [todo.id, represent(todo)]));
  }

  return (id) => {
    if (gathered.length === 0) found = ask();
    gathered.push(id);
    return found.then((todos) => todos.get(id));
  };
}
