import { loadavg } from 'node:os';
import { type CoreTimes, coreTimes } from './cores.ts';
import { type Measurement, median } from './results.ts';

/** Shares, 0 to 1, from which figures should not be quoted. */
const LIMITS = { busy: 0.05, stolen: 0.01, foreign: 0.05, spread: 0.1 } as const;
const LOAD_AVERAGE_LIMIT = 0.7;

const LOOK_MS = 2000;

/** How far the machine was the benchmark's own: figures for the reader, and what is wrong with them. */
export interface Quietness {
  readonly described: Readonly<Record<string, string>>;
  readonly disturbed: readonly string[];
}

/** Watches the machine for two seconds while nothing of the benchmark runs. */
export async function lookBefore(): Promise<Quietness> {
  const averages = loadavg();
  const began = coreTimes();
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  const { busy, stolen } = shares(began, coreTimes());
  const [average = 0] = averages;
  return {
    described: {
      'load average before': averages.map((value) => value.toFixed(2)).join(' '),
      'processor in use before': percent(busy),
    },
    disturbed: [
      ...(average > LOAD_AVERAGE_LIMIT ? [`the load average before was ${average.toFixed(2)}`] : []),
      ...(busy > LIMITS.busy ? [`${percent(busy)} of the processor were in use before`] : []),
      ...(stolen > LIMITS.stolen ? [`the host gave ${percent(stolen)} of it to others before`] : []),
    ],
  };
}

/** What the measurements tell about the machine; `began` is from when they began. */
export function lookBack(
  began: CoreTimes | undefined,
  measurements: readonly Measurement[],
  calibration: readonly number[],
): Quietness {
  const { stolen } = shares(began, coreTimes());
  const foreign = measurements.map((one) => one.foreign).filter((share) => share !== undefined);
  const others = foreign.length === 0 ? 0 : median(foreign);
  const spread = Math.max(...calibration) / Math.min(...calibration) - 1;
  return {
    described: {
      "the server's core, used by others": `median ${percent(others)}, at most ${percent(Math.max(0, ...foreign))}`,
      'time that the host gave to others': percent(stolen),
      'the constant at start, middle and end': `${calibration.map((cpu) => cpu.toFixed(1)).join(', ')} CPU µs/request, spread ${percent(spread)}`,
      'load average after': loadavg()
        .map((value) => value.toFixed(2))
        .join(' '),
    },
    disturbed: [
      ...(others > LIMITS.foreign
        ? [`others used ${percent(others)} of the server's core in the median`]
        : []),
      ...(stolen > LIMITS.stolen ? [`the host gave ${percent(stolen)} of the processor to others`] : []),
      ...(spread > LIMITS.spread ? [`the cost of the constant changed by ${percent(spread)}`] : []),
    ],
  };
}

/** Zeros where the machine does not tell. */
function shares(before: CoreTimes | undefined, after: CoreTimes | undefined) {
  if (before === undefined || after === undefined) return { busy: 0, stolen: 0 };
  const all = after.all - before.all;
  return { busy: (after.busy - before.busy) / all, stolen: (after.stolen - before.stolen) / all };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
