import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { createNoopMeter, type MeterProvider } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { LogEvent } from '../events.ts';
import { errorCode, messageOf } from '../lib/errors.ts';
import { followOutage } from '../lib/outage.ts';

/** `ExportResultCode.SUCCESS` of OpenTelemetry's core. */
const SUCCESS = 0;

/** Characters of a collector's message that a line shows. */
const MAX_SHOWN = 200;

/** Counts spans that no collector takes; logs an outage, with their number at its end. */
export function countLostSpans(collector: string, logEvent: LogEvent) {
  let lost = 0;
  /** The last status of the collector for the batch under way: the exporter hides some. */
  let status: number | undefined;
  let underWay = 0;
  const isTold = followOutage();
  /** Lost spans before the outage. */
  let before = 0;
  let sinceLastBatch = false;

  function lose(spans: number, reason: string | undefined): void {
    if (isTold(reason ?? '')) logEvent({ event: 'traces-not-sent', reason, spans });
    lost += spans;
    sinceLastBatch = true;
  }

  function answered(message: unknown): void {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    const [path] = request.path.split('?');
    if (`${request.protocol}//${request.getHeader('host')}${path}` === collector)
      status = response.statusCode;
  }
  subscribe('http.client.response.finish', answered);

  function reasonOf(error: Error | undefined): string {
    if (error?.name === 'OTLPExporterError' && status !== undefined) return `${collector} answered ${status}`;
    // The parser of Node.js does not know the frames of HTTP/2.
    const isParseError = errorCode(error)?.startsWith('HPE_');
    const question = isParseError ? ': is this the port of gRPC (4317)? That of HTTP is 4318' : '';
    return `${collector}: ${messageOf(error, 'OTEL_EXPORTER_OTLP_CERTIFICATE')}${question}`;
  }

  function endOutage(): void {
    if (isTold(undefined)) logEvent({ event: 'traces-lost', spans: lost - before });
    before = lost;
  }

  return {
    total: () => lost,

    watch: (exporter: SpanExporter): SpanExporter => ({
      export(spans, report) {
        underWay += spans.length;
        status = undefined;
        exporter.export(spans, (result) => {
          underWay -= spans.length;
          if (result.code !== SUCCESS) lose(spans.length, reasonOf(result.error));
          else if (!sinceLastBatch) endOutage();
          sinceLastBatch = result.code !== SUCCESS;
          report(result);
        });
      },
      shutdown: () => exporter.shutdown(),
    }),

    /** Meters for a processor, which counts by them the spans that it drops. */
    meters: {
      getMeter: () =>
        Object.assign(createNoopMeter(), {
          createCounter: () => ({
            add(spans: number, attributes: Readonly<Record<string, unknown>> = {}) {
              if (attributes['error.type'] === 'queue_full')
                lose(spans, 'too many wait (OTEL_BSP_MAX_QUEUE_SIZE)');
            },
          }),
        }),
    } satisfies MeterProvider,

    /** Takes a warning of OpenTelemetry: a collector reports only so that it has taken a batch in part. */
    warned(message: string, details: unknown): void {
      if (!message.startsWith('Received Partial Success') || typeof details !== 'string') return;
      const { rejectedSpans, errorMessage }: Record<string, unknown> = JSON.parse(details);
      // JSON has integers of 64 bits as a text.
      const rejected = typeof rejectedSpans === 'object' ? 0 : Number(rejectedSpans);
      const reason = typeof errorMessage === 'string' ? errorMessage.slice(0, MAX_SHOWN) : undefined;
      if (rejected > 0 && rejected <= underWay) lose(rejected, reason);
    },

    /** Counts the spans that are still under way: they will not arrive. */
    end(): void {
      if (underWay > 0) lose(underWay, 'the service stops');
      endOutage();
      unsubscribe('http.client.response.finish', answered);
    },
  };
}
