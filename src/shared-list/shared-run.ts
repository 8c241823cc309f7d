/**
 * Runs a task for all who wait together. Who comes while it runs waits for the next run, because the one under
 * way may have looked at the data before: nobody gets a result that was begun before they asked.
 */
export function sharedRun<T>(task: () => Promise<T>): () => Promise<T> {
  let running: Promise<void> | undefined;
  let next: Promise<T> | undefined;

  async function start(): Promise<T> {
    next = undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    running = promise;
    try {
      return await task();
    } finally {
      // Whoever comes before the next run begins still belongs to it.
      if (next === undefined) running = undefined;
      resolve();
    }
  }

  return () => {
    if (running === undefined) return start();
    next ??= running.then(start);
    return next;
  };
}
