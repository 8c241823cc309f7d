/** Goes on at once with what is at hand, later with what is not: a promise costs some 5 µs, and most never meet one. */
export function andThen<A, B>(value: A | Promise<A>, next: (value: A) => B | Promise<B>): B | Promise<B> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * What a promise resolves with within so many milliseconds, else `late`. After a stall of the process the timer comes
 * before what has arrived meanwhile, which is let in first.
 */
export function within<T, Late>(milliseconds: number, promise: Promise<T>, late: Late): Promise<T | Late> {
  const { promise: tooLate, resolve } = Promise.withResolvers<Late>();
  const timer = setTimeout(() => setImmediate(() => resolve(late)), milliseconds);
  return Promise.race([promise, tooLate]).finally(() => clearTimeout(timer));
}
