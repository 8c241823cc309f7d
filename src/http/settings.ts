import { quoteAddress } from '../quote-address.ts';
import { readWhole } from '../whole-number.ts';

/** The variables that say how connections are served and how serving ends, an empty one as undefined. */
export interface RawServing {
  readonly corsOrigins: string | undefined;
  readonly maxConnections: string | undefined;
  readonly shutdownSeconds: string | undefined;
  readonly shutdownDelaySeconds: string | undefined;
}

/** How connections are served and how serving ends. */
export interface Serving {
  /** Exact origins whose browser applications are let in. */
  readonly corsOrigins: readonly string[];
  /** Sockets at a time, 1 to 1,000,000. */
  readonly maxConnections: number;
  /** Seconds, 0 to 3,600, from the start of draining until what is still open is cut off. */
  readonly shutdownSeconds: number;
  /** Seconds, 0 to 3,600, for which a service that is no longer ready goes on as before. */
  readonly shutdownDelaySeconds: number;
}

export function readServing(raw: RawServing, faults: string[]): Serving {
  const seconds = { from: 0, to: 3_600, unit: 'seconds' } as const;
  return {
    corsOrigins: readOrigins('TODO_CORS_ORIGINS', raw.corsOrigins, faults),
    maxConnections: readWhole(
      'TODO_MAX_CONNECTIONS',
      raw.maxConnections,
      { from: 1, to: 1_000_000, otherwise: 10_000 },
      faults,
    ),
    shutdownSeconds: readWhole(
      'TODO_SHUTDOWN_SECONDS',
      raw.shutdownSeconds,
      { ...seconds, otherwise: 10 },
      faults,
    ),
    shutdownDelaySeconds: readWhole(
      'TODO_SHUTDOWN_DELAY_SECONDS',
      raw.shutdownDelaySeconds,
      { ...seconds, otherwise: 0 },
      faults,
    ),
  };
}

/** Origins as browsers send them (RFC 6454 §6.2): scheme, host in lower case, port unless it is the default. */
function readOrigins(name: string, value = '', faults: string[]): readonly string[] {
  const origins = value.split(',').map((origin) => origin.trim());
  const given = origins.filter((origin) => origin !== '');
  for (const origin of given) {
    const url = URL.parse(origin);
    if (url !== null && /^https?:$/.test(url.protocol) && url.origin === origin) continue;
    // A password may have commas, too.
    const received = quoteAddress(value.includes('@') ? value : origin);
    faults.push(
      `${name} must list origins like "https://app.example", comma-separated, received ${received}`,
    );
  }
  return given;
}
