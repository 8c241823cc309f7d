/** Goes on at once with a value, later with a promise: a promise costs some 5 µs, and most requests need none. */
export function andThen<A, B>(value: A | Promise<A>, next: (value: A) => B | Promise<B>): B | Promise<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** The value of a promise that resolves within so many milliseconds, as `timeLimit` has them, else `late`. */
export function within<T, Late>(milliseconds: number, promise: Promise<T>, late: Late): Promise<T | Late> {
  const { promise: tooLate, resolve } = Promise.withResolvers<Late>();
  const limit = timeLimit(milliseconds, () => resolve(late));
  return Promise.race([promise, tooLate]).finally(() => limit.clear());
}

/**
 * Calls back when so many milliseconds are over, but not before data that has arrived by then was read: after a stall of
 * this process, Node.js runs its timers first. The limit can be begun anew, or ended.
 */
export function timeLimit(milliseconds: number, onOver: () => void) {
  let reading: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    reading = setImmediate(onOver);
  }, milliseconds);
  return {
    refresh(): void {
      clearImmediate(reading);
      timer.refresh();
    },
    clear(): void {
      clearImmediate(reading);
      clearTimeout(timer);
    },
  };
}
