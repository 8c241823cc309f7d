import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Step, Tell } from '../events.ts';
import type { Call } from '../http/message/routes.ts';
import { newTraceId, type Parent, parseTraceparent, setTraceId } from '../problem/problem.ts';
import { within } from '../promises.ts';
import { type Ended, errorType } from './record.ts';
import type { Sampling, TracingSettings } from './tracing.ts';

/** The last spans get so long to leave when the service ends. */
const FLUSH_MS = 2_000;

export type Traces = ReturnType<typeof openTraces>;

/**
 * One server span per routed request that is sampled, with children for the verdict on its token, the operation of the
 * store and its commit. The `traceId` of such a request is the id of its span. Attributes hold nothing of a request's
 * own text: no path, no query, no token. They are sent by OTLP/HTTP for as long as it is open.
 */
export function openTraces(
  settings: TracingSettings,
  { version, tell }: { readonly version: string; readonly tell: Tell },
) {
  const named = resourceFromAttributes({ 'service.name': 'todo-service', 'service.version': version });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: loggedExporter(new OTLPTraceExporter(), tell),
        scheduledDelayMillis: settings.scheduleDelayMs,
        exportTimeoutMillis: settings.exportTimeoutMs,
        maxQueueSize: settings.maxQueueSize,
        maxExportBatchSize: Math.min(settings.maxBatchSize, settings.maxQueueSize),
      }),
    ],
  });
  const tracer = provider.getTracer('todo-service', version);
  const isSampled = decideBy(settings.sampling);

  return {
    /** Undefined when the request is not sampled. */
    begin(call: Call, from: number): Spans | undefined {
      const parent = parseTraceparent(call.headers.traceparent);
      if (isSampled(parent)) return openSpans(tracer, call, parent, from);
      if (parent?.sampled) setTraceId(call.request, newTraceId({ ...parent, sampled: false }));
      return undefined;
    },

    async [Symbol.asyncDispose](): Promise<void> {
      const sent = provider.shutdown().catch(() => {});
      await within(FLUSH_MS, sent, undefined);
    },
  };
}

/** Decides before there is a span: to begin one that is not recorded costs more than the request. */
function decideBy({ parentBased, ratio }: Sampling): (parent: Parent | undefined) => boolean {
  const byTraceId = new TraceIdRatioBasedSampler(ratio);
  return (parent) => {
    if (parent === undefined) return Math.random() < ratio;
    if (parentBased) return parent.sampled;
    const { decision } = byTraceId.shouldSample(ROOT_CONTEXT, parent.traceId);
    return decision === SamplingDecision.RECORD_AND_SAMPLED;
  };
}

/** Those of one request. */
type Spans = ReturnType<typeof openSpans>;

/** Begins the span of a request, which its steps and its end complete. */
function openSpans(tracer: Tracer, call: Call, parent: Parent | undefined, from: number) {
  /** One clock for all of them, whatever became of the system's since the start of the process. */
  const offset = Date.now() - from;
  const { method, found, request } = call;
  const span = tracer.startSpan(
    found === undefined ? method : `${method} ${found.path}`,
    {
      kind: SpanKind.SERVER,
      startTime: offset + from,
      attributes: {
        'http.request.method': method,
        'url.scheme': 'http',
        'network.protocol.version': request.httpVersion,
        ...(found === undefined ? {} : { 'http.route': found.path }),
      },
    },
    remoteContext(parent),
  );
  const { traceId, spanId } = span.spanContext();
  setTraceId(call.request, `00-${traceId}-${spanId}-01`);

  const below = (above: Span, name: string, step: Step, options: SpanOptions): Span => {
    const startTime = offset + step.from;
    const child = tracer.startSpan(name, { ...options, startTime }, trace.setSpan(ROOT_CONTEXT, above));
    const { error } = step;
    if (error !== undefined)
      child.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', errorType(error));
    return child;
  };
  let commit: Extract<Step, { name: 'commit' }> | undefined;

  return {
    mark(step: Step): void {
      const { name } = step;
      if (name === 'commit') {
        // Its write, below which it belongs, ends behind it.
        commit = step;
        return;
      }
      const attributes = { 'db.operation.name': name, 'db.collection.name': 'todos' };
      const child =
        name === 'authenticate'
          ? below(span, name, step, {})
          : below(span, `${name} todos`, step, { kind: SpanKind.CLIENT, attributes });
      if (commit !== undefined) {
        const { writes, until } = commit;
        below(child, 'commit', commit, { attributes: { 'todo.commit.writes': writes } }).end(offset + until);
        commit = undefined;
      }
      child.end(offset + step.until);
    },
    ended({ until, status }: Ended): void {
      const { statusCode } = call.response;
      if (status === undefined) span.setAttribute('error.type', 'aborted');
      else span.setAttribute('http.response.status_code', status);
      if (statusCode >= 500) {
        span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', String(statusCode));
      }
      span.end(offset + until);
    },
  };
}

/** The caller's span, when it told one. */
function remoteContext(parent: Parent | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: parent.traceId,
    spanId: parent.parentId,
    traceFlags: parent.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
  });
}

/** `ExportResultCode.SUCCESS` of OpenTelemetry's core. */
const SUCCESS = 0;

/**
 * The same exporter, and a line in the log when spans can no longer be sent, and when they can again. What
 * happens in between is for level debug. Requests never notice.
 */
function loggedExporter(exporter: SpanExporter, tell: Tell): SpanExporter {
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
