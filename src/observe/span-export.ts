import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Tell } from '../events.ts';

/** `ExportResultCode.SUCCESS` of OpenTelemetry's core. */
const SUCCESS = 0;

/**
 * The same exporter, and a line in the log when spans can no longer be sent, and when they can again. What
 * happens in between is for level debug. Requests never notice.
 */
export function loggedExporter(exporter: SpanExporter, tell: Tell): SpanExporter {
  let failing = false;
  return {
    export(spans, report) {
      exporter.export(spans, (result) => {
        const failed = result.code !== SUCCESS;
        if (failed) {
          const again = failing ? ({ level: 'debug', message: 'still no traces sent' } as const) : {};
          const reason = result.error?.message;
          tell({ event: 'traces-not-sent', reason, spans: spans.length }, again);
        } else if (failing) tell({ event: 'traces-sent' });
        failing = failed;
        report(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
