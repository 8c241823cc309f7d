/** The variables that say how connections are served and how serving ends, an empty one as undefined. */
export interface RawServing {
  readonly maxConnections: string | undefined;
  readonly shutdownSeconds: string | undefined;
  readonly shutdownDelaySeconds: string | undefined;
}

/** How connections are served and how serving ends. */
export interface Serving {
  /** Sockets at a time, 1 to 1,000,000. */
  readonly maxConnections: number;
  /** Seconds, 0 to 3,600, from the start of draining until what is still open is cut off. */
  readonly shutdownSeconds: number;
  /** Seconds, 0 to 3,600, for which a service that is no longer ready goes on as before. */
  readonly shutdownDelaySeconds: number;
}

export function readServing(raw: RawServing, faults: string[]): Serving {
  const seconds = { from: 0, to: 3_600 };
  return {
    maxConnections: readWhole(
      'TODO_MAX_CONNECTIONS',
      raw.maxConnections,
      { from: 1, to: 1_000_000, otherwise: 10_000 },
      faults,
    ),
    shutdownSeconds: readWhole(
      'TODO_SHUTDOWN_SECONDS',
      raw.shutdownSeconds,
      { ...seconds, otherwise: 10 },
      faults,
    ),
    shutdownDelaySeconds: readWhole(
      'TODO_SHUTDOWN_DELAY_SECONDS',
      raw.shutdownDelaySeconds,
      { ...seconds, otherwise: 0 },
      faults,
    ),
  };
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly otherwise: number;
}

/** A whole number in decimal digits within its range; a value that is none adds a line to `faults`. */
export function readWhole(
  name: string,
  value: string | undefined,
  { from, to, otherwise }: Range,
  faults: string[],
): number {
  if (value === undefined) return otherwise;
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= from && number <= to) return number;
  faults.push(`${name} must be a whole number from ${from} to ${to}, received ${JSON.stringify(value)}`);
  return otherwise;
}
