import type { Answer } from '../http/message/answer.ts';
import type { Call } from '../http/message/call.ts';
import { within } from '../promises.ts';
import { type CreateKey, createKey } from '../store/create-key.ts';
import type { CreateOutcome, Once } from '../store/store.ts';
import type { NewTodo, TodoRepresentation } from '../store/todo.ts';
import { KEY_MALFORMED, SUBJECT_MISSING } from './answers.ts';

/** Milliseconds that a repeat waits for the create that is under way (contract I3). */
const PATIENCE_MS = 1_000;

interface First {
  readonly body: string;
  /** Undefined when it was refused or failed: the next may try. Never rejects. */
  readonly made: Promise<TodoRepresentation | undefined>;
}

/**
 * Creates that may be repeated, of which one per key is handed to the store at a time: repeats wait here, where they
 * hold nothing, and not in the store's queue or connections.
 */
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

/** What there is of a todo, made now or before. */
function madeOf(outcome: Extract<CreateOutcome, object>): TodoRepresentation {
  return 'repeated' in outcome ? outcome.repeated : outcome;
}

/** 1 to 128 characters U+0021 to U+007E without `"`, `\` and `,`; bare, or in double quotes with nothing behind. */
const KEY = /^(?:"([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,128})"|([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,128}))$/;

/**
 * The key in a value of `Idempotency-Key`, or undefined when it is malformed (contract I5). Node.js joins the values
 * of two lines with a comma, which no key has.
 */
export function parseIdempotencyKey(value: string): string | undefined {
  const [, quoted, bare] = KEY.exec(value) ?? [];
  return quoted ?? bare;
}

/** Goes on with the key of a create, if there is one. A fault of it is a 400: the end of step 4 in the contract's order. */
export function withIdempotencyKey(
  { headers, identity: { caller } }: Call,
  todo: NewTodo,
  handle: (key: CreateKey | undefined) => Promise<Answer>,
): Answer | Promise<Answer> {
  const value = headers['idempotency-key'];
  if (value === undefined) return handle(undefined);
  const key = parseIdempotencyKey(String(value));
  if (key === undefined) return KEY_MALFORMED;
  if (caller === null) return SUBJECT_MISSING;
  return handle(createKey(caller, key, todo));
}
