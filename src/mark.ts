/** A step of a request that has ended. Times are those of `performance.now()`. */
export type Step = { readonly from: number; readonly until: number; readonly error?: unknown } & (
  | {
      readonly name: 'authenticate' | 'list' | 'find' | 'add' | 'replace' | 'remove';
      readonly code?: string | undefined;
    }
  /** One for all writes that shared a commit: `writes` of them changed something. */
  | { readonly name: 'commit'; readonly writes: number }
);

/** Notes a step as soon as it has ended, which may be after its client has left. Nothing is decided by it. */
export type Mark = (step: Step) => void;

/**
 * Runs a step, and marks its end.
 *
 * @param codeOf what came of it, in a word.
 */
export function marked<T>(
  mark: Mark | undefined,
  name: Exclude<Step['name'], 'commit'>,
  run: () => T | Promise<T>,
  codeOf?: (result: T) => string,
): T | Promise<T> {
  if (mark === undefined) return run();
  const from = performance.now();
  const failed = (error: unknown) => mark({ name, from, until: performance.now(), error });
  const done = (result: T) => mark({ name, from, until: performance.now(), code: codeOf?.(result) });
  try {
    const result = run();
    if (result instanceof Promise) result.then(done, failed);
    else done(result);
    return result;
  } catch (error) {
    failed(error);
    throw error;
  }
}
