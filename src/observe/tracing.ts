import type { Settings } from '../read-settings.ts';

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

/** What to do about traces; undefined when no endpoint is set, or traces are switched off. */
export function readTracing(settings: Settings): TracingSettings | undefined {
  const given = ENDPOINTS.filter((variable) => settings.text(variable) !== undefined);
  if (given.length === 0) return undefined;
  const disabled = settings.read('OTEL_SDK_DISABLED').toLowerCase() === 'true';
  if (disabled || settings.read('OTEL_TRACES_EXPORTER') === 'none') return undefined;
  for (const variable of given) {
    if (/^https?:$/.test(URL.parse(settings.text(variable) ?? '')?.protocol ?? '')) continue;
    settings.refuse(variable, 'must begin with "http://" or "https://"');
  }
  // Read for its faults: the other one is for traces alone, and beats it.
  if (settings.read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') === undefined)
    settings.read('OTEL_EXPORTER_OTLP_PROTOCOL');
  return {
    sampling: readSampling(settings),
    scheduleDelayMs: settings.read('OTEL_BSP_SCHEDULE_DELAY'),
    exportTimeoutMs: settings.read('OTEL_BSP_EXPORT_TIMEOUT'),
    maxQueueSize: settings.read('OTEL_BSP_MAX_QUEUE_SIZE'),
    maxBatchSize: settings.read('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
  };
}

function readSampling(settings: Settings): Sampling {
  const sampler = settings.read('OTEL_TRACES_SAMPLER');
  const parentBased = sampler.startsWith('parentbased_');
  if (sampler.endsWith('always_off')) return { parentBased, ratio: 0 };
  if (sampler.endsWith('always_on')) return { parentBased, ratio: 1 };
  const ratio = Number(settings.read('OTEL_TRACES_SAMPLER_ARG'));
  if (!(ratio >= 0 && ratio <= 1)) settings.refuse('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1');
  return { parentBased, ratio };
}
