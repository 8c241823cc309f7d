import type { Tell } from '../events.ts';
import { Cannot } from '../lib/cannot.ts';
import { errorCode } from '../lib/errors.ts';
import type { TraceSettings } from './settings.ts';

/**
 * Imports what only a service with traces needs: the packages are optional peers.
 *
 * @param database the name of its system, by OpenTelemetry's conventions.
 * @throws {Cannot} when the packages are not installed.
 */
export async function openTraces(
  settings: TraceSettings,
  version: string,
  database: 'sqlite' | 'postgresql' | undefined,
  tell: Tell,
) {
  const traces = await import('./traces.ts').catch((cause: unknown) => {
    if (errorCode(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new Cannot(
      'unavailable',
      'traces need the packages @opentelemetry/api, @opentelemetry/sdk-trace, @opentelemetry/resources and ' +
        '@opentelemetry/exporter-trace-otlp-http; install them, or unset OTEL_EXPORTER_OTLP_ENDPOINT',
      { cause },
    );
  });
  return traces.openTraces(settings, version, database, tell);
}
