/** What a promise resolves with within so many milliseconds, else `late`. */
export function within<T, Late>(milliseconds: number, promise: Promise<T>, late: Late): Promise<T | Late> {
  const { promise: tooLate, resolve } = Promise.withResolvers<Late>();
  const timer = setTimeout(resolve, milliseconds, late);
  return Promise.race([promise, tooLate]).finally(() => clearTimeout(timer));
}
