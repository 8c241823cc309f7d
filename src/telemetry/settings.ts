import { readFileSync, statSync } from 'node:fs';
import { orUndefined } from '../lib/errors.ts';
import type { Settings } from '../settings/read.ts';
import type { Variable } from '../settings/table.ts';

export type TraceSettings = NonNullable<ReturnType<typeof readTraces>>;
export type Sampling = ReturnType<typeof readSampling>;

/** For traces alone, which beats the other; and the base address, to which the path is added. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;
const PATH = '/v1/traces';

/** The configuration of traces; undefined when no endpoint is set, or traces are switched off. */
export function readTraces(settings: Settings) {
  const given = ENDPOINTS.filter((variable) => settings.read(variable) !== undefined);
  if (given.length === 0) return undefined;
  const disabled = settings.read('OTEL_SDK_DISABLED').toLowerCase();
  if (disabled === 'true' || settings.read('OTEL_TRACES_EXPORTER') === 'none') return undefined;
  if (disabled !== 'false') settings.refuse('OTEL_SDK_DISABLED', 'must be "true" or "false"');
  const [first] = given.map((variable) => readEndpoint(settings, variable, given.length === 1));
  const { href = '', origin = '', pathname = '' } = first ?? {};
  return {
    /** What spans are posted to. May hold a password: never for a log or a message. */
    address: href,
    /** The same, for people: scheme, host, port and path. */
    collector: `${origin}${pathname}`,
    tls: readExporter(settings),
    sampling: readSampling(settings),
    scheduleDelayMs: settings.read('OTEL_BSP_SCHEDULE_DELAY'),
    exportTimeoutMs: settings.read('OTEL_BSP_EXPORT_TIMEOUT'),
    /** Spans that wait for the exporter; more are dropped. */
    maxQueueSize: settings.read('OTEL_BSP_MAX_QUEUE_SIZE'),
    maxBatchSize: settings.read('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
  };
}

function readEndpoint(
  settings: Settings,
  variable: (typeof ENDPOINTS)[number],
  isOnly: boolean,
): URL | undefined {
  const url = URL.parse(settings.read(variable) ?? '');
  if (url === null || !/^https?:$/.test(url.protocol))
    return settings.refuse(variable, 'must begin with "http://" or "https://"');
  const [alone, base] = ENDPOINTS;
  if (variable === alone) return url;
  if (isOnly && /\/v1\/traces\/*$/.test(url.pathname)) {
    const wanted = `must not end in "${PATH}", which is added to it: leave it out, or set ${alone}`;
    settings.refuse(base, wanted);
  }
  url.pathname = `${url.pathname.replace(/\/$/, '')}${PATH}`;
  return url;
}

/** Reads what the exporter reads by itself, for its faults, and its files. One for traces alone beats the other. */
function readExporter(settings: Settings) {
  for (const [alone, all] of [
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'],
    ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'],
    ['OTEL_EXPORTER_OTLP_TRACES_COMPRESSION', 'OTEL_EXPORTER_OTLP_COMPRESSION'],
  ] as const)
    if (settings.read(alone) === undefined) settings.read(all);
  settings.read('OTEL_SERVICE_NAME');
  if (!areAttributes(settings.read('OTEL_RESOURCE_ATTRIBUTES') ?? '')) {
    const wanted =
      'must be "name=value,…", of at most 255 characters each, "," and "=" in them percent-encoded';
    settings.refuse('OTEL_RESOURCE_ATTRIBUTES', wanted);
  }
  const propagators = settings.read('OTEL_PROPAGATORS').split(',');
  const names = new Set(propagators.map((name) => name.trim()));
  if (!names.delete('tracecontext') || [...names].some((name) => name !== 'baggage'))
    settings.refuse('OTEL_PROPAGATORS', 'must be "tracecontext", with "baggage" or without');
  return {
    ca: readFile(settings, 'OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE', 'OTEL_EXPORTER_OTLP_CERTIFICATE'),
    cert: readFile(
      settings,
      'OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE',
      'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
    ),
    key: readFile(settings, 'OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY', 'OTEL_EXPORTER_OTLP_CLIENT_KEY'),
  };
}

function readFile(settings: Settings, alone: Variable, all: Variable): Buffer | undefined {
  const variable = settings.read(alone) === undefined ? all : alone;
  const path = settings.read(variable);
  if (path === undefined) return undefined;
  // A read of a pipe would wait.
  const bytes = orUndefined(() => (statSync(String(path)).isFile() ? readFileSync(String(path)) : undefined));
  return bytes ?? settings.refuse(variable, 'must be a file that can be read');
}

/** Whether every attribute is well-formed: at one fault OpenTelemetry drops all of them. */
function areAttributes(text: string): boolean {
  const attributes = text.split(',').filter((attribute) => attribute.trim() !== '');
  return attributes.every((attribute) => {
    const parts = attribute.split('=').map((part) => orUndefined(() => decodeURIComponent(part.trim())));
    const [name = '', value, ...more] = parts;
    return (
      name !== '' && value !== undefined && more.length === 0 && Math.max(name.length, value.length) <= 255
    );
  });
}

/** The sampling: of requests without a sampled flag from their caller, or of all. `ratio` is 0 to 1. */
function readSampling(settings: Settings) {
  const sampler = settings.read('OTEL_TRACES_SAMPLER');
  const parentBased = sampler.startsWith('parentbased_');
  if (sampler.endsWith('always_off')) return { parentBased, ratio: 0 };
  if (sampler.endsWith('always_on')) return { parentBased, ratio: 1 };
  const ratio = Number(settings.read('OTEL_TRACES_SAMPLER_ARG'));
  if (!(ratio >= 0 && ratio <= 1)) settings.refuse('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1');
  return { parentBased, ratio };
}
