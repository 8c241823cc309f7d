/**
 * Runs a task for all who wait together. Who comes while it runs waits for the next run, because the one under
 * way may have looked at the data before: nobody gets a result that was begun before they asked. When a run
 * fails, those who wait for the next fail with it, so that nobody waits for two failures.
 */
export function sharedRun<T>(task: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;

  async function start(): Promise<T> {
    next = undefined;
    running = task();
    try {
      const result = await running;
      // Whoever comes before the next run begins still belongs to it.
      if (next === undefined) running = undefined;
      return result;
    } catch (error) {
      running = undefined;
      next = undefined;
      throw error;
    }
  }

  return () => {
    if (running === undefined) return start();
    next ??= running.then(start);
    return next;
  };
}
