import { errorCode, messageOf } from '../lib/errors.ts';
import { OperatorError } from '../lib/operator-error.ts';

/** Imports the modules of traces. @throws {OperatorError} when their packages, optional peers, are not installed. */
export function importTraces() {
  return import('./traces.ts').catch((cause: unknown) => {
    if (errorCode(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new OperatorError(
      'unavailable',
      'traces need the packages @opentelemetry/api, @opentelemetry/sdk-trace, @opentelemetry/resources and ' +
        '@opentelemetry/exporter-trace-otlp-http; install them, or unset OTEL_EXPORTER_OTLP_ENDPOINT: ' +
        messageOf(cause),
      { cause },
    );
  });
}
