import type { Authenticate } from '../auth/authenticate.ts';
import type { Call } from '../http/message/call.ts';
import type { TodoStore } from '../store/store.ts';

/** Looks on at a request. `go` answers it and must be called once; its end is the `close` of `call.response`. */
export type WatchRequest = (call: Call, go: () => void) => void;

/** Looks on while the service works. Nothing is wrapped where nobody looks on. */
export interface Observer {
  watchStore(store: TodoStore): TodoStore;
  watchAuthenticate(authenticate: Authenticate): Authenticate;
  readonly watchRequest: WatchRequest;
  /** A batch of so many writes was under way from and until these times of `performance.now()`. */
  committed(writes: number, from: number, until: number): void;
}
