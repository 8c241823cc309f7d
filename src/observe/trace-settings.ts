import { quoteReceived } from '../quote-address.ts';
import type { Settings, Variable } from '../settings.ts';

/** Which requests are recorded: of those without a sampled flag from their caller, or of all. */
export interface Sampling {
  readonly parentBased: boolean;
  /** 0 to 1. */
  readonly ratio: number;
}

export interface TracingSettings {
  readonly sampling: Sampling;
  /** Milliseconds between two exports. */
  readonly scheduleDelayMs: number;
  /** Milliseconds. */
  readonly exportTimeoutMs: number;
  /** Spans that wait for the exporter; more are dropped. */
  readonly maxQueueSize: number;
  readonly maxBatchSize: number;
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const;

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'];

/** What to do about traces; undefined when no endpoint is set, or traces are switched off. */
export function readTracing(settings: Settings): TracingSettings | undefined {
  if (ENDPOINTS.every((variable) => settings.text(variable) === undefined)) return undefined;
  const disabled = settings.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  if (disabled || settings.text('OTEL_TRACES_EXPORTER') === 'none') return undefined;
  for (const variable of ENDPOINTS) checkEndpoint(variable, settings);
  checkProtocol(settings);
  const milliseconds = { from: 1, to: 600_000 };
  const spans = { from: 1, to: 100_000 };
  return {
    sampling: readSampling(settings),
    scheduleDelayMs: settings.whole('OTEL_BSP_SCHEDULE_DELAY', { ...milliseconds, otherwise: 5_000 }),
    exportTimeoutMs: settings.whole('OTEL_BSP_EXPORT_TIMEOUT', { ...milliseconds, otherwise: 30_000 }),
    maxQueueSize: settings.whole('OTEL_BSP_MAX_QUEUE_SIZE', { ...spans, otherwise: 2_048 }),
    maxBatchSize: settings.whole('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', { ...spans, otherwise: 512 }),
  };
}

function checkEndpoint(variable: Variable, settings: Settings): void {
  const value = settings.text(variable);
  if (value === undefined || /^https?:$/.test(URL.parse(value)?.protocol ?? '')) return;
  settings.fault(`${variable} must begin with "http://" or "https://", received ${quoteReceived(value)}`);
}

function checkProtocol(settings: Settings): void {
  const protocol =
    settings.text('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? settings.text('OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol === undefined || /^http\/(?:json|protobuf)$/.test(protocol)) return;
  const received = JSON.stringify(protocol);
  settings.fault(`OTEL_EXPORTER_OTLP_PROTOCOL must be "http/json" or "http/protobuf", received ${received}`);
}

function readSampling(settings: Settings): Sampling {
  const sampler = settings.text('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const argument = settings.text('OTEL_TRACES_SAMPLER_ARG');
  const parentBased = sampler.startsWith('parentbased_');
  const root = parentBased ? sampler.slice('parentbased_'.length) : sampler;
  if (!SAMPLERS.includes(root)) {
    const wanted = SAMPLERS.flatMap((name) => [`"${name}"`, `"parentbased_${name}"`]).join(', ');
    settings.fault(`OTEL_TRACES_SAMPLER must be one of ${wanted}, received ${JSON.stringify(sampler)}`);
  }
  if (root === 'always_off') return { parentBased, ratio: 0 };
  const ratio = root === 'traceidratio' && argument !== undefined ? Number(argument) : 1;
  if (ratio >= 0 && ratio <= 1) return { parentBased, ratio };
  settings.fault(
    `OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, received ${JSON.stringify(argument)}`,
  );
  return { parentBased, ratio: 1 };
}
