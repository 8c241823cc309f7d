import type { Tell } from '../events.ts';

/** Milliseconds without a refused connection, after which an episode is over (contract D13). */
const EPISODE_MS = 60_000;

/** Says in the log that connections are refused: once per episode, and when that is over. Call it for each of them. */
export function sayFull(tell: Tell, listener: 'public' | 'admin'): () => void {
  let refused = 0;
  let ending: NodeJS.Timeout | undefined;
  return () => {
    if (refused === 0) tell({ event: 'connections-full', listener });
    refused += 1;
    clearTimeout(ending);
    ending = setTimeout(() => {
      tell({ event: 'connections-free', listener, refused });
      refused = 0;
    }, EPISODE_MS).unref();
  };
}
