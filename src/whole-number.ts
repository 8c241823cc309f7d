interface Range {
  readonly from: number;
  readonly to: number;
  readonly otherwise: number;
  /** For the message. */
  readonly unit?: 'seconds';
}

/**
 * A setting that is a whole number in decimal digits within its range, `otherwise` when it is not set. A value
 * that is none adds a line to `faults`.
 *
 * @param name The flag or the variable that it came from.
 */
export function readWhole(
  name: string,
  value: string | undefined,
  { from, to, otherwise, unit }: Range,
  faults: string[],
): number {
  if (value === undefined) return otherwise;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= from && number <= to) return number;
  const wanted = unit === undefined ? 'a whole number' : `a whole number of ${unit}`;
  faults.push(`${name} must be ${wanted} from ${from} to ${to}, received ${JSON.stringify(value)}`);
  return otherwise;
}
