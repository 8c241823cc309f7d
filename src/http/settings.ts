import { quoteReceived } from '../quote-address.ts';
import type { Settings } from '../read-settings.ts';

/** How connections are served and how serving ends. */
export interface Serving {
  /** Exact origins whose browser applications are let in. */
  readonly corsOrigins: readonly string[];
  /** Sockets at a time. */
  readonly maxConnections: number;
  /** From the start of draining until what is still open is cut off. */
  readonly shutdownSeconds: number;
  /** For which a service that is no longer ready goes on as before. */
  readonly shutdownDelaySeconds: number;
}

export function readServing(settings: Settings): Serving {
  return {
    corsOrigins: readOrigins(settings),
    maxConnections: settings.read('TODO_MAX_CONNECTIONS'),
    shutdownSeconds: settings.read('TODO_SHUTDOWN_SECONDS'),
    shutdownDelaySeconds: settings.read('TODO_SHUTDOWN_DELAY_SECONDS'),
  };
}

/** Origins as browsers send them (RFC 6454 §6.2): scheme, host in lower case, port unless it is the default. */
function readOrigins(settings: Settings): readonly string[] {
  const value = settings.text('TODO_CORS_ORIGINS') ?? '';
  const origins = value.split(',').map((origin) => origin.trim());
  const given = origins.filter((origin) => origin !== '');
  for (const origin of given) {
    const url = URL.parse(origin);
    if (url !== null && /^https?:$/.test(url.protocol) && url.origin === origin) continue;
    // A password may have commas, too.
    const received = quoteReceived(value.includes('@') ? value : origin);
    settings.fault(
      `TODO_CORS_ORIGINS must list origins like "https://app.example", comma-separated, received ${received}`,
    );
  }
  return given;
}
