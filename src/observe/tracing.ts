import type { Settings } from '../read-settings.ts';

export type TracingSettings = NonNullable<ReturnType<typeof readTracing>>;
export type Sampling = ReturnType<typeof readSampling>;

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const;

/** What to do about traces; undefined when no endpoint is set, or traces are switched off. */
export function readTracing(settings: Settings) {
  const given = ENDPOINTS.filter((variable) => settings.read(variable) !== undefined);
  if (given.length === 0) return undefined;
  const disabled = settings.read('OTEL_SDK_DISABLED').toLowerCase() === 'true';
  if (disabled || settings.read('OTEL_TRACES_EXPORTER') === 'none') return undefined;
  for (const variable of given) {
    if (/^https?:$/.test(URL.parse(settings.read(variable) ?? '')?.protocol ?? '')) continue;
    settings.refuse(variable, 'must begin with "http://" or "https://"');
  }
  // Read for its faults: the other one is for traces alone, and beats it.
  if (settings.read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') === undefined)
    settings.read('OTEL_EXPORTER_OTLP_PROTOCOL');
  return {
    sampling: readSampling(settings),
    scheduleDelayMs: settings.read('OTEL_BSP_SCHEDULE_DELAY'),
    exportTimeoutMs: settings.read('OTEL_BSP_EXPORT_TIMEOUT'),
    /** Spans that wait for the exporter; more are dropped. */
    maxQueueSize: settings.read('OTEL_BSP_MAX_QUEUE_SIZE'),
    maxBatchSize: settings.read('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
  };
}

/** Which requests are recorded: of those without a sampled flag from their caller, or of all. `ratio` is 0 to 1. */
function readSampling(settings: Settings) {
  const sampler = settings.read('OTEL_TRACES_SAMPLER');
  const parentBased = sampler.startsWith('parentbased_');
  if (sampler.endsWith('always_off')) return { parentBased, ratio: 0 };
  if (sampler.endsWith('always_on')) return { parentBased, ratio: 1 };
  const ratio = Number(settings.read('OTEL_TRACES_SAMPLER_ARG'));
  if (!(ratio >= 0 && ratio <= 1)) settings.refuse('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1');
  return { parentBased, ratio };
}
