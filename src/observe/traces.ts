import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
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
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { Call } from '../http/message/call.ts';
import { newTraceId, type Parent, parseTraceparent } from '../problem/trace-id.ts';
import { within } from '../within.ts';
import type { Observer } from './observer.ts';
import { loggedExporter } from './span-export.ts';
import type { Sampling, TracingSettings } from './trace-settings.ts';
import { errorType, settled, watchStore } from './watched-store.ts';

/** Operations that share a commit with others; beside a read, somebody else's may end. */
const WRITES: ReadonlySet<string> = new Set(['add', 'replace', 'remove']);

/** The last spans get so long to leave when the service ends. */
const FLUSH_MS = 2_000;

/** Spans of requests, sent by OTLP/HTTP for as long as it is open. */
export interface Traces extends Observer, AsyncDisposable {}

/**
 * One server span per routed request that is sampled, with children for the verdict on its token, the operation of the
 * store and its commit. The `traceId` of such a request is the id of its span. Attributes hold nothing of a request's
 * own text: no path, no query, no token.
 */
export function openTraces(
  settings: TracingSettings,
  { version, log }: { readonly version: string; readonly log: Logger },
): Traces {
  const named = resourceFromAttributes({ 'service.name': 'todo-service', 'service.version': version });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: loggedExporter(new OTLPTraceExporter(), log),
        scheduledDelayMillis: settings.scheduleDelayMs,
        exportTimeoutMillis: settings.exportTimeoutMs,
        maxQueueSize: settings.maxQueueSize,
        maxExportBatchSize: Math.min(settings.maxBatchSize, settings.maxQueueSize),
      }),
    ],
  });
  const tracer = provider.getTracer('todo-service', version);
  const isSampled = decideBy(settings.sampling);
  const current = new AsyncLocalStorage<Context>();
  /** Below the span of the request; nothing where that is not recorded. */
  const child = <T>(name: string, kind: SpanKind, attributes: Attributes, run: (span?: Span) => T): T => {
    const parent = current.getStore();
    if (parent === undefined) return run();
    const span = tracer.startSpan(name, { kind, attributes }, parent);
    return settled(
      () => run(span),
      (error) => end(span, error),
    );
  };
  let lastCommit = { writes: 0, from: 0, until: 0 };
  /** Below the span of a write that began then. */
  const noteCommit = (span: Span, startedAt: number): void => {
    const { writes, from, until } = lastCommit;
    if (from < startedAt) return;
    const startTime = performance.timeOrigin + from;
    const attributes = { 'todo.commit.writes': writes };
    tracer
      .startSpan('commit', { startTime, attributes }, trace.setSpan(ROOT_CONTEXT, span))
      .end(performance.timeOrigin + until);
  };

  return {
    watchRequest(call, go) {
      const parent = parseTraceparent(call.headers.traceparent);
      if (!isSampled(parent)) {
        if (parent?.sampled) call.traceId = newTraceId({ ...parent, sampled: false });
        go();
        return;
      }
      const span = startServerSpan(tracer, call, parent);
      const { traceId, spanId } = span.spanContext();
      call.traceId = `00-${traceId}-${spanId}-01`;
      const { response } = call;
      response.once('close', () => {
        if (response.writableFinished) span.setAttribute('http.response.status_code', response.statusCode);
        else span.setAttribute('error.type', 'aborted');
        if (response.statusCode >= 500) {
          const type = String(response.statusCode);
          span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type);
        }
        span.end();
      });
      current.run(trace.setSpan(ROOT_CONTEXT, span), go);
    },
    watchAuthenticate: (authenticate) => (authorization) =>
      child('authenticate', SpanKind.INTERNAL, {}, () => authenticate(authorization)),
    watchStore: (store) =>
      watchStore(store, (operation, run) => {
        const attributes = { 'db.operation.name': operation, 'db.collection.name': 'todos' };
        return child(`${operation} todos`, SpanKind.CLIENT, attributes, (span) => {
          const startedAt = performance.now();
          const result = run();
          // A writer hears of its batch before the next one is committed: the last commit is that of this write.
          if (span !== undefined && WRITES.has(operation) && result instanceof Promise) {
            const note = () => noteCommit(span, startedAt);
            result.then(note, note);
          }
          return result;
        });
      }),
    committed(writes, from, until) {
      lastCommit = { writes, from, until };
    },
    async [Symbol.asyncDispose]() {
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

function startServerSpan(tracer: Tracer, { method, found, request }: Call, parent: Parent | undefined): Span {
  const context =
    parent === undefined
      ? ROOT_CONTEXT
      : trace.setSpanContext(ROOT_CONTEXT, {
          traceId: parent.traceId,
          spanId: parent.parentId,
          traceFlags: parent.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
          isRemote: true,
        });
  const attributes = {
    'http.request.method': method,
    'url.scheme': 'http',
    'network.protocol.version': request.httpVersion,
    ...(found === undefined ? {} : { 'http.route': found.path }),
  };
  const name = found === undefined ? method : `${method} ${found.path}`;
  return tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, context);
}

function end(span: Span, error: unknown): void {
  if (error !== undefined) {
    span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', errorType(error));
  }
  span.end();
}
