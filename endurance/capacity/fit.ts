/**
 * What a quantity grows with. `todos`: their thousands, T; it has something of each todo. `depth`: the decimal logarithm of T,
 * L; it looks one todo up, in an index that gets deeper and caches that know less of it.
 */
export type Growth = 'todos' | 'depth';

/** A quantity as it grows with the todos, as far as it was measured. */
export interface Line {
  readonly growth: Growth;
  readonly constant: number;
  /** For each T or L. */
  readonly each: number;
}

export type Measured = readonly (readonly [todos: number, value: number])[];

function growthAt(growth: Growth, todos: number): number {
  return growth === 'todos' ? todos / 1_000 : Math.log10(todos / 1_000);
}

/**
 * The line with the least squares of relative errors, so that small lists count as much as large ones. Neither of its parts
 * is negative: nothing costs less because there is more of it.
 *
 * @param points Values above 0, of at least 1,000 todos.
 */
export function fitLine(points: Measured, growth: Growth): Line {
  const sum = (of: (at: number, weight: number, value: number) => number) =>
    points.reduce((total, [todos, value]) => total + of(growthAt(growth, todos), 1 / value ** 2, value), 0);
  const weight = sum((_, w) => w);
  const x = sum((at, w) => at * w);
  const y = sum((_, w, value) => value * w);
  const xx = sum((at, w) => at * at * w);
  const xy = sum((at, w, value) => at * value * w);
  const each = (weight * xy - x * y) / (weight * xx - x * x);
  const constant = (y - each * x) / weight;
  if (!(each > 0)) return { growth, constant: y / weight, each: 0 };
  return constant > 0 ? { growth, constant, each } : { growth, constant: 0, each: xy / xx };
}

export function valueAt({ growth, constant, each }: Line, todos: number): number {
  return constant + each * growthAt(growth, todos);
}

/** Every third point, the second of each three: they are left out of the fit, and show its error. */
export function isHeldOut(index: number): boolean {
  return index % 3 === 1;
}

/** The line through the points that are not held out, and by which share it misses each of the others. */
export function fitAndTest(
  points: Measured,
  growth: Growth,
): { readonly line: Line; readonly errors: Measured } {
  const line = fitLine(
    points.filter((_, index) => !isHeldOut(index)),
    growth,
  );
  const errors = points
    .filter((_, index) => isHeldOut(index))
    .map(([todos, value]) => [todos, valueAt(line, todos) / value - 1] as const);
  return { line, errors };
}
