import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';

/** `ExportResultCode.SUCCESS` of OpenTelemetry's core. */
const SUCCESS = 0;

/**
 * The same exporter, and a line in the log when spans can no longer be sent, and when they can again. What
 * happens in between is for level debug. Requests never notice.
 */
export function loggedExporter(exporter: SpanExporter, log: Logger): SpanExporter {
  let failing = false;
  return {
    export(spans, report) {
      exporter.export(spans, (result) => {
        const failed = result.code !== SUCCESS;
        const line = { event: 'traces-not-sent', reason: result.error?.message, spans: spans.length };
        if (failed && failing) log.debug(line, 'still no traces sent');
        else if (failed) log.warn(line, 'traces cannot be sent, spans are dropped');
        else if (failing) log.info({ event: 'traces-sent' }, 'traces are sent again');
        failing = failed;
        report(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
