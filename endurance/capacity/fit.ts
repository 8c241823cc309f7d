/** A quantity that grows in a straight line with the todos, as far as it was measured. */
export interface Line {
  readonly constant: number;
  /** For each todo. */
  readonly each: number;
}

export type Measured = readonly (readonly [todos: number, value: number])[];

/**
 * The line with the least squares of relative errors, so that small lists count as much as large ones. Neither of its parts
 * is negative: nothing costs less because there is more of it.
 *
 * @param points Values above 0.
 */
export function fitLine(points: Measured): Line {
  const sum = (of: (todos: number, weight: number, value: number) => number) =>
    points.reduce((total, [todos, value]) => total + of(todos, 1 / value ** 2, value), 0);
  const weight = sum((_, w) => w);
  const x = sum((n, w) => n * w);
  const y = sum((_, w, value) => value * w);
  const xx = sum((n, w) => n * n * w);
  const xy = sum((n, w, value) => n * value * w);
  const each = (weight * xy - x * y) / (weight * xx - x * x);
  const constant = (y - each * x) / weight;
  if (!(each > 0)) return { constant: y / weight, each: 0 };
  return constant > 0 ? { constant, each } : { constant: 0, each: xy / xx };
}

export function valueAt({ constant, each }: Line, todos: number): number {
  return constant + each * todos;
}

/** Every third point, the second of each three: they are left out of the fit, and show its error. */
export function isHeldOut(index: number): boolean {
  return index % 3 === 1;
}

/** The line through the points that are not held out, and by which share it misses each of the others. */
export function fitAndTest(points: Measured): { readonly line: Line; readonly errors: Measured } {
  const line = fitLine(points.filter((_, index) => !isHeldOut(index)));
  const errors = points
    .filter((_, index) => isHeldOut(index))
    .map(([todos, value]) => [todos, valueAt(line, todos) / value - 1] as const);
  return { line, errors };
}
