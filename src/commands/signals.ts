import { constants } from 'node:os';
import type { LogEvent } from '../events.ts';

/** Milliseconds after a signal in which a second one does not end the process: npm may pass one Ctrl-C on twice. */
const SAME_SIGNAL_MS = 1_000;

/** Milliseconds from the end of the service to the end of its process. */
const LAST_MS = 250;

/** Signals that end the service and its commands: of a supervisor, of Ctrl-C, of a terminal that closes. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Waits for one of `SIGNALS`: its name. Another signal, later, ends the process at once with 128 + its number. */
export function signalled(logEvent: LogEvent): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let first: number | undefined;
  for (const name of SIGNALS) {
    process.on(name, () => {
      const now = performance.now();
      first ??= now;
      resolve(name);
      if (now - first < SAME_SIGNAL_MS) return;
      logEvent({ event: 'stopped-at-once', reason: name });
      process.exit(128 + constants.signals[name]);
    });
  }
  return promise;
}

/** Ends a command at one of `SIGNALS` with 128 + its number, after `takeBack`. Another signal ends it at once. */
export function endBySignal(takeBack: (name: string) => void): void {
  onSignal((name) => {
    takeBack(name);
    process.exit(128 + constants.signals[name]);
  });
}

/** Lets a command that is about to finish ignore one signal. Another signal ends it at once. */
export function endByItself(): void {
  onSignal(() => {});
}

/** Sets the reaction to signals. The last call counts. */
function onSignal(react: (name: (typeof SIGNALS)[number]) => void): void {
  for (const name of SIGNALS) {
    const earlier = process.listeners(name);
    process.once(name, () => react(name));
    // With no listener in between, Node.js would lose a signal that has just come.
    for (const listener of earlier) process.off(name, listener);
  }
}

/** Waits for an uncaught exception or rejection: its origin. Logs each; the process ends with 1, even by a signal. */
export function crashed(logEvent: LogEvent): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  process.on('uncaughtException', (err, reason) => {
    logEvent({ event: 'uncaught', reason, err });
    resolve(reason);
  });
  process.once('uncaughtException', () => {
    process.once('exit', () => {
      process.exitCode ||= 1;
    });
  });
  return promise;
}

/** Ends the process although an open handle would keep it alive, such as an exporter that tries once more. */
export function waitForNothing(): void {
  setTimeout(() => process.exit(), LAST_MS).unref();
}
