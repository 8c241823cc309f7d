/**
 * Single flight: concurrent callers share one run of the task. Callers during a run join the next one, so that no result
 * predates its call. When a run fails, the callers that wait for the next fail with it, so that no caller waits for two
 * failures: `src/storage/list/single-flight.test.ts`.
 */
export function singleFlight<T>(task: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;

  async function start(): Promise<T> {
    next = undefined;
    running = task();
    try {
      return await running;
    } finally {
      // A next run begins before anyone else can call.
      running = undefined;
    }
  }

  return () => {
    if (running === undefined) return start();
    next ??= running.then(start);
    return next;
  };
}
