import type { Durability } from './servers.ts';

/** What one server in one scenario gave. A figure that this machine cannot tell is left out. */
export interface Measurement {
  readonly scenario: string;
  readonly server: string;
  /** Only where the scenario writes. */
  readonly durability?: Durability;
  readonly requests: number;
  readonly failed: number;
  readonly requestsPerSecond?: number;
  /** Milliseconds. */
  readonly p50?: number;
  readonly p99?: number;
  /** Microseconds of all threads of the server process, per request. */
  readonly cpu?: number | undefined;
  /** Share of the server's core, 0 to 1, that something else used meanwhile. */
  readonly foreign?: number | undefined;
  /** Megabytes (PSS) at its end. */
  readonly memory?: number | undefined;
  /** Milliseconds from the start of the process to its first answer. */
  readonly start?: number;
}

/** Medians over all measurements of one server in one scenario. */
export interface Figures extends Measurement {
  readonly measurements: number;
}

/** What `npm run soak` found. */
export interface Soak {
  readonly minutes: number;
  /** Resident at the end. */
  readonly megabytes: number;
  readonly megabytesPerHour: number;
}

export interface Results {
  readonly date: string;
  readonly command: string;
  /** How servers and load are run, for example. */
  readonly commands: Readonly<Record<string, string>>;
  readonly machine: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
  /** Why the figures should not be quoted: what else the machine did. Empty when it was quiet. */
  readonly disturbed: readonly string[];
  /** CPU microseconds per request of the constant at the start, in the middle and at the end. */
  readonly calibration: readonly number[];
  readonly soak?: Soak;
  /** When the figures mean nothing. */
  readonly note: string;
  readonly figures: readonly Figures[];
  /** Trials that gave nothing: which, and why. */
  readonly failures: readonly string[];
  readonly measurements: readonly Measurement[];
}

/** The medians, in the order in which servers first appear. Failed requests are added up, never averaged away. */
export function summarize(measurements: readonly Measurement[]): readonly Figures[] {
  const groups = Map.groupBy(measurements, ({ scenario, server, durability }) =>
    [scenario, server, durability].join(),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const figures = Object.fromEntries(
      (['requestsPerSecond', 'p50', 'p99', 'cpu', 'memory', 'start'] as const).flatMap((name) => {
        const values = group.map((trial) => trial[name]).filter((value) => value !== undefined);
        return values.length === 0 ? [] : [[name, median(values)]];
      }),
    );
    return {
      ...first,
      ...figures,
      requests: sum(group.map(({ requests }) => requests)),
      failed: sum(group.map(({ failed }) => failed)),
      measurements: group.length,
    };
  });
}

/** NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
