import { within } from '../lib/promises.ts';
import type { CreateKey } from './create-keys.ts';
import type { TodoRepresentation } from './members.ts';
import type { CreateOutcome, Once } from './store.ts';

/** Milliseconds that a repeat waits for the create that is under way (contract I3). */
const PATIENCE_MS = 1_000;

interface First {
  readonly body: string;
  /** Undefined when the create was refused or failed: the next one may try. Never rejects. */
  readonly made: Promise<TodoRepresentation | undefined>;
}

/** Creates that may be repeated: the store gets one per key at a time; repeats wait here, where they hold nothing. */
export function createOnce(): (
  key: CreateKey,
  add: (once: Once) => Promise<CreateOutcome>,
) => Promise<CreateOutcome> {
  const underWay = new Map<string, First>();

  function first(added: Promise<CreateOutcome>, { key, body }: CreateKey): Promise<CreateOutcome> {
    const made = added
      .then(
        (outcome) => (typeof outcome === 'object' ? madeOf(outcome) : undefined),
        () => undefined,
      )
      .finally(() => underWay.delete(key));
    underWay.set(key, { body, made });
    return added;
  }

  return async (key, add) => {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const left = until - performance.now();
      if (left <= 0) return 'in-progress';
      const other = underWay.get(key.key);
      if (other === undefined) return first(add({ ...key, patienceMs: left }), key);
      const made = await within(left, other.made, undefined);
      if (made !== undefined) return other.body === key.body ? { repeated: made } : 'key-reused';
    }
  };
}

/** The todo of an outcome, made now or before; undefined when there is none. */
function madeOf(outcome: Extract<CreateOutcome, object>): TodoRepresentation {
  return 'repeated' in outcome ? outcome.repeated : outcome;
}
