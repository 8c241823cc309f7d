import type { Tell } from '../events.ts';
import type { TracingSettings } from './trace-settings.ts';
import type { Traces } from './traces.ts';

/** Traces are wanted and their packages are not installed. The message is one line for people (exit code 69). */
export class TracesNotOpened extends Error {
  override readonly name = 'TracesNotOpened';
}

/**
 * Imports what only a service with traces needs: the packages are optional peers.
 *
 * @throws {TracesNotOpened} when they are not there.
 */
export async function openTraces(
  settings: TracingSettings,
  parts: { readonly version: string; readonly tell: Tell },
): Promise<Traces> {
  const traces = await import('./traces.ts').catch((cause: unknown) => {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND')) throw cause;
    throw new TracesNotOpened(
      'traces need the packages @opentelemetry/api, @opentelemetry/sdk-trace, @opentelemetry/resources and ' +
        '@opentelemetry/exporter-trace-otlp-http; install them, or unset OTEL_EXPORTER_OTLP_ENDPOINT',
      { cause },
    );
  });
  return traces.openTraces(settings, parts);
}
