import {
  type Attributes,
  type Context,
  createTraceState,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { LogEvent, Step } from '../events.ts';
import type { Call } from '../http/call.ts';
import { newTraceId, type Parent, parseTraceparent, setTraceId } from '../http/trace-id.ts';
import { CONNECT } from '../lib/node-http.ts';
import { within } from '../lib/promises.ts';
import { type Ended, errorType, knownMethod } from './ended.ts';
import { countLostSpans } from './lost-spans.ts';
import type { Sampling, TraceSettings } from './settings.ts';

/** Milliseconds for the last spans to leave when the service ends. */
const FLUSH_MS = 2_000;

export type Traces = ReturnType<typeof openTraces>;

/**
 * One server span for each routed request that is sampled, with children for the verdict on its token, the operation of
 * the store and its commit. The `traceId` of such a request is the id of its span. Attributes hold nothing of a request's
 * own text but the host that it names: no path that matches no route, no query, no token. The spans are sent by OTLP/HTTP
 * until the traces are closed.
 *
 * @param database the name of its system, by OpenTelemetry's conventions.
 */
export function openTraces(
  settings: TraceSettings,
  version: string,
  database: 'sqlite' | 'postgresql' | undefined,
  logEvent: LogEvent,
) {
  const lost = countLostSpans(settings.collector, logEvent);
  const quiet = () => {};
  const warnings = { error: quiet, warn: lost.warned, info: quiet, debug: quiet, verbose: quiet };
  diag.setLogger(warnings, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const named = resourceFromAttributes({ 'service.name': 'todo-service', 'service.version': version });
  const detectors = [serviceInstanceIdDetector, resourceAttributesEnvDetector, serviceNameEnvDetector];
  const provider = new TracerProvider({
    resource: defaultResource().merge(named).merge(detectResources({ detectors })),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: lost.watch(
          new OTLPTraceExporter({
            url: settings.address,
            httpAgentOptions: { keepAlive: true, ...CONNECT, ...settings.tls },
          }),
        ),
        scheduledDelayMillis: settings.scheduleDelayMs,
        exportTimeoutMillis: settings.exportTimeoutMs,
        maxQueueSize: settings.maxQueueSize,
        maxExportBatchSize: Math.min(settings.maxBatchSize, settings.maxQueueSize),
        selfObsMeterProvider: lost.meters,
      }),
    ],
  });
  const tracer = provider.getTracer('todo-service', version);
  const isSampled = decideBy(settings.sampling);

  return {
    /** Spans that no collector has taken, so far. */
    lost: lost.total,

    /** Undefined when the request is not sampled. */
    begin(call: Call, from: number) {
      const parent = parseTraceparent(call.headers.traceparent);
      if (isSampled(parent)) return openSpans(call, parent, from);
      if (parent?.sampled) setTraceId(call.request, newTraceId({ ...parent, sampled: false }));
      return undefined;
    },

    async [Symbol.asyncDispose](): Promise<void> {
      const sent = provider.shutdown().catch(() => {});
      await within(FLUSH_MS, sent, undefined);
      lost.end();
      diag.disable();
    },
  };

  /** Begins the span of a request, which its steps and its end complete. */
  function openSpans(call: Call, parent: Parent | undefined, from: number) {
    /** One clock for all spans, also when the system's clock was set after the start of the process. */
    const offset = Date.now() - from;
    const { found } = call;
    const method = knownMethod(call.method);
    const named = method === '_OTHER' ? 'HTTP' : method;
    const span = tracer.startSpan(
      found === undefined ? named : `${named} ${found.path}`,
      { kind: SpanKind.SERVER, startTime: offset + from, attributes: attributesOf(call, method) },
      remoteContext(parent, call.headers.tracestate),
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
      onStep(step: Step): void {
        const { name } = step;
        if (name === 'commit') {
          // The commit belongs below its write, which ends after it.
          commit = step;
          return;
        }
        const attributes = {
          'db.system.name': database,
          'db.operation.name': name,
          'db.collection.name': 'todos',
        };
        const child =
          name === 'authenticate'
            ? below(span, name, step, {})
            : below(span, `${name} todos`, step, { kind: SpanKind.CLIENT, attributes });
        if (commit !== undefined) {
          const { writes, until } = commit;
          below(child, 'commit', commit, { attributes: { 'todo.commit.writes': writes } }).end(
            offset + until,
          );
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
}

/** Decides before there is a span: beginning one that is not recorded costs more than the request. */
function decideBy({ parentBased, ratio }: Sampling): (parent: Parent | undefined) => boolean {
  const byTraceId = new TraceIdRatioBasedSampler(ratio);
  return (parent) => {
    if (parent === undefined) return Math.random() < ratio;
    if (parentBased) return parent.sampled;
    const { decision } = byTraceId.shouldSample(ROOT_CONTEXT, parent.traceId);
    return decision === SamplingDecision.RECORD_AND_SAMPLED;
  };
}

/** Attributes by OpenTelemetry's conventions. A path without a route is left out. */
function attributesOf({ method, found, request, headers }: Call, known: string): Attributes {
  const attributes: Attributes = {
    'http.request.method': known,
    'url.scheme': 'http',
    'network.protocol.version': request.httpVersion,
  };
  if (known !== method) attributes['http.request.method_original'] = method;
  if (found === undefined) return attributes;
  attributes['http.route'] = found.path;
  attributes['url.path'] = found.id === undefined ? found.path : found.path.replace(':id', String(found.id));
  const [, address = '', port] = ADDRESS_AND_PORT.exec(headers.host ?? '') ?? [];
  if (address !== '') attributes['server.address'] = address;
  if (port !== undefined) attributes['server.port'] = Number(port);
  return attributes;
}

/** A name or an address, and a port. */
const ADDRESS_AND_PORT = /^\[?([^[\]]{1,255}?)\]?(?::(\d{1,5}))?$/;

/** The caller's span, when the request names one. */
function remoteContext(
  parent: Parent | undefined,
  tracestate: string | readonly string[] | undefined,
): Context {
  if (parent === undefined) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: parent.traceId,
    spanId: parent.parentId,
    traceFlags: parent.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    ...(typeof tracestate === 'string' && { traceState: createTraceState(tracestate) }),
    isRemote: true,
  });
}
