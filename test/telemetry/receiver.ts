import { once } from 'node:events';
import { createServer } from 'node:http';
import { listen } from '../support/folder.ts';

/** A span as OTLP/JSON has it, attributes as an object; the status 2 is an error. */
export type ReceivedSpan = ReturnType<typeof spansOf>[number];

/** A collector that keeps what it is sent by OTLP/HTTP as JSON. Owned: `await using`. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Waits until a span has come that fits. */
  span(fits: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan>;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** @param answer what it says to each batch, as JSON. */
export async function startReceiver(answer = '{}'): Promise<Receiver> {
  const spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method === 'POST' && request.url === '/v1/traces') {
        spans.push(...spansOf(JSON.parse(Buffer.concat(chunks).toString())));
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
      server.emit('received');
    });
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    spans,
    async span(fits) {
      for (;;) {
        const found = spans.find(fits);
        if (found !== undefined) return found;
        await once(server, 'received', { signal: AbortSignal.timeout(120_000) });
      }
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** What of `ExportTraceServiceRequest` is looked at: https://opentelemetry.io/docs/specs/otlp/ */
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code: number };
  readonly traceState?: string;
}

function spansOf({ resourceSpans }: Export) {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        kind: span.kind,
        start: BigInt(span.startTimeUnixNano),
        end: BigInt(span.endTimeUnixNano),
        attributes: objectOf(span.attributes),
        status: span.status.code,
        traceState: span.traceState,
        resource: objectOf(resource.attributes),
      })),
    ),
  );
}

function objectOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
