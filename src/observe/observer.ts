import type { FastifyInstance } from 'fastify';
import type { Authenticate } from '../auth/authenticate.ts';
import type { TodoStore } from '../shared-list/store.ts';

/** Looks on while the service works. Nothing is wrapped, and no hook added, where nobody looks on. */
export interface Observer {
  watchStore(store: TodoStore): TodoStore;
  watchAuthenticate(authenticate: Authenticate): Authenticate;
  /** Must be called before every other hook is added. */
  watchRequests(app: FastifyInstance): void;
  /** A batch of so many writes was under way from and until these times of `performance.now()`. */
  committed(writes: number, from: number, until: number): void;
}
