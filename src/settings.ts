import { quoteReceived } from './quote-address.ts';

/** Every variable that is read, and no other can be. Those of OpenTelemetry's exporter itself are read by it. */
export const VARIABLES = [
  'TODO_PROFILE',
  'TODO_ENVIRONMENT',
  'TODO_HOST',
  'TODO_PORT',
  'TODO_LOG_LEVEL',
  'TODO_AUDIT',
  'TODO_DATA_DIR',
  'TODO_DATABASE',
  'TODO_CACHE_MB',
  'TODO_DATABASE_CONNECTIONS',
  'TODO_DATABASE_PREPARE',
  'TODO_AUTH_ISSUER',
  'TODO_AUTH_AUDIENCE',
  'TODO_AUTH_JWKS_URL',
  'TODO_AUTH_KEYS_FILE',
  'TODO_AUTH_SECRET_FILE',
  'TODO_AUTH_ROLE_CLAIM',
  'TODO_AUTH_NAME_CLAIM',
  'TODO_AUTH_CLOCK_TOLERANCE',
  'TODO_AUTH_KEYS_COOLDOWN_SECONDS',
  'TODO_AUTH_KEYS_REFRESH_SECONDS',
  'TODO_CORS_ORIGINS',
  'TODO_MAX_CONNECTIONS',
  'TODO_SHUTDOWN_SECONDS',
  'TODO_SHUTDOWN_DELAY_SECONDS',
  'TODO_ADMIN_HOST',
  'TODO_ADMIN_PORT',
  'OTEL_SDK_DISABLED',
  'OTEL_TRACES_EXPORTER',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_BSP_SCHEDULE_DELAY',
  'OTEL_BSP_EXPORT_TIMEOUT',
  'OTEL_BSP_MAX_QUEUE_SIZE',
  'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
] as const;

export type Variable = (typeof VARIABLES)[number];

export interface Range {
  readonly from: number;
  readonly to: number;
  readonly otherwise: number;
  /** For the message. */
  readonly unit?: 'seconds';
}

/** Reads settings, and notes every fault, so that three wrong settings cost one start. */
export interface Settings {
  /** The value as it stands; undefined when it is not set. An empty variable counts as not set. */
  text(variable: Variable): string | undefined;
  /** The flag that was given in place of a variable, else the variable: for a message. */
  nameOf(variable: Variable): string;
  /** A whole number in decimal digits within its range. */
  whole(variable: Variable, range: Range): number;
  /** The name or address of a host; not looked up. */
  host(variable: Variable, otherwise: string): string;
  oneOf<const T extends string>(variable: Variable, allowed: readonly T[], otherwise: NoInfer<T>): T;
  /** Notes what is wrong, as a line for people: what was received and what is wanted. Never any part of a secret. */
  fault(line: string): void;
  /** What was noted so far, in order. */
  readonly faults: readonly string[];
}

/** What was given on the command line. `--data-dir` stands for `TODO_DATA_DIR`, and beats it. */
export type GivenFlags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** The reader of the variables and flags of one command. Flags without a value are faults. */
export function readSettings(env: NodeJS.ProcessEnv, flags: GivenFlags): Settings {
  const faults: string[] = [];
  // Most likely an unset variable of the shell, which must not fall back to a default.
  for (const [flag, value] of Object.entries(flags)) {
    if (value === '') faults.push(`--${flag} must have a value, received ""`);
  }

  function given(variable: Variable): string | undefined {
    const value = flags[flagOf(variable)];
    return typeof value === 'string' ? value : undefined;
  }

  function text(variable: Variable): string | undefined {
    return given(variable) ?? (env[variable] || undefined);
  }

  function nameOf(variable: Variable): string {
    return given(variable) === undefined ? variable : `--${flagOf(variable)}`;
  }

  return {
    faults,
    text,
    nameOf,
    fault: (line) => faults.push(line),
    whole(variable, { from, to, otherwise, unit }) {
      const value = text(variable);
      if (value === undefined) return otherwise;
      const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= from && number <= to) return number;
      const wanted = unit === undefined ? 'a whole number' : `a whole number of ${unit}`;
      faults.push(
        `${nameOf(variable)} must be ${wanted} from ${from} to ${to}, received ${quoteReceived(value)}`,
      );
      return otherwise;
    },
    host(variable, otherwise) {
      const value = text(variable) ?? otherwise;
      if (!HOST.test(value)) {
        faults.push(
          `${nameOf(variable)} must be the name or address of a host, like "localhost", "0.0.0.0" or "::1", ` +
            `received ${quoteReceived(value)}`,
        );
      }
      return value;
    },
    oneOf(variable, allowed, otherwise) {
      const value = text(variable);
      if (value === undefined) return otherwise;
      const found = allowed.find((one) => one === value);
      if (found === undefined) {
        const wanted = allowed.map((one) => `"${one}"`).join(', ');
        faults.push(`${nameOf(variable)} must be one of ${wanted}, received ${quoteReceived(value)}`);
      }
      return found ?? otherwise;
    },
  };
}

/** A name (RFC 1123 §2.1, and the underscore that some have), or an address, of IPv6 with its zone. */
const HOST = /^[\w.:%-]{1,253}$/;

function flagOf(variable: Variable): string {
  return variable
    .replace(/^TODO_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
}
