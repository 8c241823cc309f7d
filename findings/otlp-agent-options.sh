#!/bin/sh
# @opentelemetry/exporter-trace-otlp-http 0.301.0 (Node.js): an option of the connection beside the variables for TLS.
# Guess: httpAgentOptions adds to the agent that OTEL_EXPORTER_OTLP_CERTIFICATE configures.
# Seen: it takes the place of that agent. The CA of the variable (the client's certificate and key too) is not read, and
# the collector is refused, as is its certificate.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @opentelemetry/api@1.10.0 @opentelemetry/exporter-trace-otlp-http@0.301.0 \
  @opentelemetry/sdk-trace@3.1.0
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out ca.pem -days 2 \
  -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>openssl.log
cat >look.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
let posts = 0;
const options = { key: readFileSync('key.pem'), cert: readFileSync('ca.pem') };
const server = createServer(options, (request, response) => {
  posts += 1;
  request.resume().on('end', () => response.end('{}'));
}).listen(0, '127.0.0.1', async () => {
  const url = `https://localhost:${server.address().port}/v1/traces`;
  for (const [what, own] of [['no options', {}], ['httpAgentOptions', { httpAgentOptions: { keepAlive: true } }]]) {
    posts = 0;
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: new OTLPTraceExporter({ url, timeoutMillis: 2000, ...own }) })] });
    provider.getTracer('a').startSpan('a').end();
    await provider.shutdown().catch(() => {});
    console.log(`${what}: ${posts > 0 ? 'received' : 'nothing'}`);
  }
  server.close();
  server.closeAllConnections();
});
JS
echo "Node.js $(node --version), @opentelemetry/exporter-trace-otlp-http 0.301.0"
env -u NODE_EXTRA_CA_CERTS OTEL_EXPORTER_OTLP_CERTIFICATE=ca.pem node look.mjs | tee seen
grep -qx 'no options: received' seen
grep -qx 'httpAgentOptions: nothing' seen
