import type { LogEvent } from './events.ts';
import { json } from './http/answer.ts';
import { openRoute, type Route } from './http/route.ts';

interface Todo {
  readonly id: number;
  readonly title: string;
  readonly done: boolean;
}

/** The endpoints of Profile B: one todo in memory, new at every start (contract D2). */
export function errorDemoRoutes(logEvent: LogEvent): readonly Route[] {
  const todos = new Map<number, Todo>([[1, { id: 1, title: 'Read RFC 9457', done: false }]]);
  return [
    openRoute('/todos/:id', ({ id }) => {
      const todo = todos.get(id);
      return todo === undefined ? { status: 404 } : json(todo, 'no-cache');
    }),
    {
      method: 'POST',
      path: '/todos/:id/complete',
      access: 'open',
      handle(call) {
        const { id } = call;
        const todo = todos.get(id);
        if (todo === undefined) return { status: 404 };
        if (todo.done) {
          const detail = `The todo with the id ${id} is already complete and cannot be completed again.`;
          return { status: 409, title: 'Todo is already completed', detail };
        }
        const completed = { ...todo, done: true };
        todos.set(id, completed);
        logEvent({ event: 'todo-completed', id, traceId: call.traceId });
        return json(completed, 'no-cache');
      },
    },
    openRoute('/crash', () => {
      throw new Error('This endpoint always fails: its message and its stack belong in the log alone');
    }),
  ];
}
