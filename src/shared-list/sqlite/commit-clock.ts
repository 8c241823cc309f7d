import type { Watcher } from './writer.ts';

/** A batch of so many writes was under way from and until these times of `performance.now()`. */
export type Committed = (writes: number, from: number, until: number) => void;

/** The same watcher, and the times of each batch with a write for `committed`, when somebody wants them. */
export function timed(watcher: Watcher, committed: Committed | undefined): Watcher {
  if (committed === undefined) return watcher;
  let writes = 0;
  let from = 0;
  return {
    batchSent(batch) {
      writes = batch.length;
      from = performance.now();
      watcher.batchSent(batch);
    },
    batchDone(changed) {
      if (writes > 0) committed(writes, from, performance.now());
      watcher.batchDone(changed);
    },
    invalidate: () => watcher.invalidate(),
  };
}
