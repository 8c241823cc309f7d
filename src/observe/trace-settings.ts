import { quoteAddress } from '../quote-address.ts';
import { readWhole } from '../whole-number.ts';

/** Variables of OpenTelemetry that are read here; those of the exporter itself are read by it. */
export interface RawTracing {
  readonly disabled: string | undefined;
  readonly exporter: string | undefined;
  readonly endpoint: string | undefined;
  readonly tracesEndpoint: string | undefined;
  readonly protocol: string | undefined;
  readonly sampler: string | undefined;
  readonly samplerArgument: string | undefined;
  readonly scheduleDelay: string | undefined;
  readonly exportTimeout: string | undefined;
  readonly maxQueueSize: string | undefined;
  readonly maxBatchSize: string | undefined;
}

/** Which requests are recorded: of those without a sampled flag from their caller, or of all. */
export interface Sampling {
  readonly parentBased: boolean;
  /** 0 to 1. */
  readonly ratio: number;
}

export interface TracingSettings {
  readonly sampling: Sampling;
  /** Milliseconds between two exports. */
  readonly scheduleDelay: number;
  /** Milliseconds. */
  readonly exportTimeout: number;
  /** Spans that wait for the exporter; more are dropped. */
  readonly maxQueueSize: number;
  readonly maxBatchSize: number;
}

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'];

/** What to do about traces; undefined when no endpoint is set, or traces are switched off. */
export function readTracing(raw: RawTracing, faults: string[]): TracingSettings | undefined {
  if (raw.endpoint === undefined && raw.tracesEndpoint === undefined) return undefined;
  if (raw.disabled?.toLowerCase() === 'true' || raw.exporter === 'none') return undefined;
  checkEndpoint('OTEL_EXPORTER_OTLP_ENDPOINT', raw.endpoint, faults);
  checkEndpoint('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', raw.tracesEndpoint, faults);
  if (raw.protocol !== undefined && !/^http\/(?:json|protobuf)$/.test(raw.protocol)) {
    const received = JSON.stringify(raw.protocol);
    faults.push(`OTEL_EXPORTER_OTLP_PROTOCOL must be "http/json" or "http/protobuf", received ${received}`);
  }
  const milliseconds = { from: 1, to: 600_000 };
  const spans = { from: 1, to: 100_000 };
  return {
    sampling: readSampling(raw, faults),
    scheduleDelay: readWhole(
      'OTEL_BSP_SCHEDULE_DELAY',
      raw.scheduleDelay,
      { ...milliseconds, otherwise: 5_000 },
      faults,
    ),
    exportTimeout: readWhole(
      'OTEL_BSP_EXPORT_TIMEOUT',
      raw.exportTimeout,
      { ...milliseconds, otherwise: 30_000 },
      faults,
    ),
    maxQueueSize: readWhole(
      'OTEL_BSP_MAX_QUEUE_SIZE',
      raw.maxQueueSize,
      { ...spans, otherwise: 2_048 },
      faults,
    ),
    maxBatchSize: readWhole(
      'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
      raw.maxBatchSize,
      { ...spans, otherwise: 512 },
      faults,
    ),
  };
}

function checkEndpoint(name: string, value: string | undefined, faults: string[]): void {
  if (value === undefined || /^https?:$/.test(URL.parse(value)?.protocol ?? '')) return;
  faults.push(`${name} must begin with "http://" or "https://", received ${quoteAddress(value)}`);
}

function readSampling({ sampler = 'parentbased_always_on', samplerArgument }: RawTracing, faults: string[]) {
  const parentBased = sampler.startsWith('parentbased_');
  const root = parentBased ? sampler.slice('parentbased_'.length) : sampler;
  if (!SAMPLERS.includes(root)) {
    const wanted = SAMPLERS.flatMap((name) => [`"${name}"`, `"parentbased_${name}"`]).join(', ');
    faults.push(`OTEL_TRACES_SAMPLER must be one of ${wanted}, received ${JSON.stringify(sampler)}`);
  }
  if (root === 'always_off') return { parentBased, ratio: 0 };
  const ratio = root === 'traceidratio' && samplerArgument !== undefined ? Number(samplerArgument) : 1;
  if (ratio >= 0 && ratio <= 1) return { parentBased, ratio };
  faults.push(
    `OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, received ${JSON.stringify(samplerArgument)}`,
  );
  return { parentBased, ratio: 1 };
}
