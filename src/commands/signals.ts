import { constants } from 'node:os';
import type { Tell } from '../events.ts';

/** A second signal ends the process only so long after the first: npm may pass one Ctrl-C on twice. */
const SAME_SIGNAL_MS = 1_000;

/** From the end of the service until the end of its process. */
const LAST_MS = 250;

/** What ends the service and its commands: a supervisor, Ctrl-C, a terminal that closes. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Waits for one of `SIGNALS`: its name. Another one, later, ends the process at once with 128 + its number. */
export function signalled(tell: Tell): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let first: number | undefined;
  for (const name of SIGNALS) {
    process.on(name, () => {
      const now = performance.now();
      first ??= now;
      resolve(name);
      if (now - first < SAME_SIGNAL_MS) return;
      tell({ event: 'stopped-at-once', reason: name });
      process.exit(128 + constants.signals[name]);
    });
  }
  return promise;
}

/** Ends a command at one of `SIGNALS` with 128 + its number, after `takeBack`. Another one ends it at once. */
export function endBySignal(takeBack: (name: string) => void): void {
  onSignal((name) => {
    takeBack(name);
    process.exit(128 + constants.signals[name]);
  });
}

/** From when a command is about to learn that it is done, a signal does not end it. Another one ends it at once. */
export function endByItself(): void {
  onSignal(() => {});
}

/** Of several calls the last one counts. */
function onSignal(react: (name: (typeof SIGNALS)[number]) => void): void {
  for (const name of SIGNALS) {
    const earlier = process.listeners(name);
    process.once(name, () => react(name));
    // With none in between, Node.js would lose a signal that has just come.
    for (const listener of earlier) process.off(name, listener);
  }
}

/**
 * Waits for an exception or a rejection that nobody caught: where it came from. Each is logged with its stack. The
 * process ends with 1 then, whatever else made it end.
 */
export function crashed(tell: Tell): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  process.on('uncaughtException', (err, reason) => {
    tell({ event: 'uncaught', reason, err });
    resolve(reason);
  });
  process.once('uncaughtException', () => {
    process.once('exit', () => {
      process.exitCode ||= 1;
    });
  });
  return promise;
}

/** Ends the process although something still holds it that nobody needs: an exporter that tries once more. */
export function waitForNothing(): void {
  setTimeout(() => process.exit(), LAST_MS).unref();
}
