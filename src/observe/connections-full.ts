import type { Logger } from 'pino';

/** Milliseconds without a refused connection, after which an episode is over (contract D13). */
const EPISODE_MS = 60_000;

/** Says in the log that connections are refused: once per episode, and when that is over. Call it for each of them. */
export function sayFull(log: Logger, listener: 'public' | 'admin'): () => void {
  let refused = 0;
  let ending: NodeJS.Timeout | undefined;
  return () => {
    if (refused === 0) log.warn({ event: 'connections-full', listener }, FULL);
    refused += 1;
    clearTimeout(ending);
    ending = setTimeout(() => {
      log.info({ event: 'connections-free', listener, refused }, 'no connection was refused for a minute');
      refused = 0;
    }, EPISODE_MS).unref();
  };
}

const FULL = 'the listener has as many connections as it may have: one more is closed at once';
