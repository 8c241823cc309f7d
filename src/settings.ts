/** A setting. Its sentence is for the help of `serve` and, with its links, for docs/configuration.md. */
interface Setting {
  /** What stands for the value in help; without it there is no flag. */
  readonly flag?: string;
  /** What holds when it is not set. Without a default, `otherwise` may say what happens then. */
  readonly default?: string | number;
  /** The same in development, where it differs. */
  readonly development?: string | number;
  readonly otherwise?: string;
  readonly about: string;
}

/** What a variable may hold: one of several words, a whole number, the name of a host, or text that its room looks into. */
type Kind =
  | { readonly oneOf: readonly string[] }
  | { readonly from: number; readonly to: number; readonly unit?: string }
  | { readonly host: true }
  | { readonly text: string };

/** Every variable that is read, and no other can be. Those of OpenTelemetry's exporter itself are read by it. */
// biome-ignore format: a setting is a row
export const SETTINGS = {
  TODO_PROFILE: { flag: 'shared-list|error-demo', oneOf: ['shared-list', 'error-demo'], default: 'shared-list',
    about: 'The todo list, or the error demo, which needs neither token nor database' },
  TODO_ENVIRONMENT: { flag: 'development|production', oneOf: ['development', 'production'], default: 'production',
    about: 'Development makes a key of its own and serves `/openapi/v1.json` and `/scalar`' },
  TODO_HOST: { flag: 'HOST', host: true, default: '127.0.0.1',
    about: 'Where it listens: `0.0.0.0` when the proxy is on another machine, or in another container' },
  TODO_PORT: { flag: 'PORT', from: 0, to: 65_535, default: 5080,
    about: '0 picks a free port and prints it' },
  TODO_LOG_LEVEL: { oneOf: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], default: 'info', development: 'debug',
    about: '`debug` adds a line per request, to look for a fault' },
  TODO_AUDIT: { oneOf: ['on', 'off'], default: 'on',
    about: 'Whether the log says [who changed what](logging.md#who-changed-what): `off` when names of people must not be in it' },
  TODO_DATA_DIR: { flag: 'DIR', text: 'a folder, made when it is missing', default: 'data',
    about: 'For the database file and the key of development. In production an absolute path on a local disk' },
  TODO_DATABASE: { flag: 'sqlite:PATH|postgres://…', text: '`sqlite:<path>`, `postgres://…`', otherwise: '`sqlite:<data dir>/todos.db`',
    about: 'Several instances share PostgreSQL: [choosing an engine](limits.md#choosing-an-engine). A password belongs into the variable, not into the flag: others can read a command line' },
  TODO_DATABASE_PASSWORD_FILE: { text: 'a file: the password, in UTF-8 (one final line break is dropped)',
    about: 'PostgreSQL: in place of a password in `TODO_DATABASE` or `PGPASSWORD`. Read for each new connection: [a password that changes](postgresql.md#a-password-that-changes)' },
  TODO_CACHE_MB: { from: 0, to: 99_999, unit: 'MiB', default: 64,
    about: 'SQLite: memory for todos at hand; 0 keeps none. Less where memory is scarce, more where over 170,000 todos with short titles are read often' },
  TODO_DATABASE_CONNECTIONS: { from: 1, to: 1_000, default: 10,
    about: 'PostgreSQL: connections for todos; the list has one more. More when the alert `TodoPoolExhausted` says so; this + 1, times the instances, must be less than the server admits' },
  TODO_DATABASE_PREPARE: { oneOf: ['auto', 'false'], default: 'auto',
    about: 'PostgreSQL: `false` prepares no statement by name, for a pooler that is not recognized as one' },
  TODO_AUTH_ISSUER: { text: 'the `iss` of your tokens, exactly',
    about: 'Whose tokens are trusted; production needs it: [identity providers](identity-providers.md)' },
  TODO_AUTH_AUDIENCE: { text: 'the `aud` of tokens for this service',
    about: 'For whom tokens must be made; production needs it' },
  TODO_AUTH_JWKS_URL: { text: 'an `https` address', otherwise: 'none: those of an issuer are found by OpenID discovery',
    about: 'Where the keys are, of an issuer without a discovery document' },
  TODO_AUTH_KEYS_FILE: { text: 'a file: PEM public key, JWK or JWKS',
    about: 'Or the keys themselves, when the service cannot reach the issuer. Read again when it changes' },
  TODO_AUTH_SECRET_FILE: { text: 'a file: up to 5 lines of `base64:` and the base64 of an HMAC secret, or the bytes of one (one final line break is dropped)',
    about: 'Or the secrets of an issuer that signs with HS256, HS384 or HS512: [changed without a refusal](identity-providers.md#an-hmac-secret-is-changed-in-three-steps). Read again when it changes' },
  TODO_AUTH_ROLE_CLAIM: { text: 'the name of a claim, or a JSON Pointer such as `/realm_access/roles`', otherwise: 'the claims `role` and `roles`',
    about: 'Where the provider puts roles' },
  TODO_AUTH_NAME_CLAIM: { text: 'as `TODO_AUTH_ROLE_CLAIM`', otherwise: 'the claim `name`, else `unique_name`',
    about: 'Where the provider puts the name that `GET /me` answers' },
  TODO_AUTH_CLOCK_TOLERANCE: { from: 0, to: 300, unit: 'seconds', default: 30, development: 0,
    about: 'Clock skew that is forgiven: more when tokens are refused as `expired` or `not-yet-valid` and the clocks cannot be corrected. 0 is the default for development tokens alone' },
  TODO_AUTH_KEYS_REFRESH_SECONDS: { from: 1, to: 86_400, unit: 'seconds', default: 600,
    about: 'How often keys are fetched anew: sooner when a key that the issuer withdraws must end sooner' },
  TODO_AUTH_KEYS_COOLDOWN_SECONDS: { from: 1, to: 3_600, unit: 'seconds', default: 30,
    about: 'Tokens with an unknown key cause at most one fetch in this time: less when a new key must be known sooner, more when the issuer counts requests' },
  TODO_CORS_ORIGINS: { text: 'exact origins, comma-separated',
    about: 'Whose applications may call the service from a browser: [browser applications](operations.md#browser-applications)' },
  TODO_MAX_CONNECTIONS: { from: 1, to: 1_000_000, default: 1_000,
    about: 'Sockets at a time; one more is closed at once. More for more clients without a proxy, less for less memory: [what connections cost](limits.md#what-connections-cost)' },
  TODO_SHUTDOWN_SECONDS: { from: 0, to: 3_600, unit: 'seconds', default: 10,
    about: 'How long clients may take for their answers when the service stops' },
  TODO_SHUTDOWN_DELAY_SECONDS: { from: 0, to: 3_600, unit: 'seconds', default: 0,
    about: 'How long to go on serving after `/ready` has turned, so that a load balancer notices' },
  TODO_ADMIN_PORT: { from: 0, to: 65_535, otherwise: 'none: no admin listener',
    about: 'A second listener with `/live`, `/ready`, `/metrics` and `/version`, which production wants; 0 picks a free port and prints it' },
  TODO_ADMIN_HOST: { host: true, default: '127.0.0.1',
    about: 'Where that one listens, when probes and Prometheus come from another machine. It asks nobody who they are' },
  OTEL_EXPORTER_OTLP_ENDPOINT: { text: '`http://…` or `https://…`', otherwise: 'none: no traces',
    about: 'Where [traces](operations.md#traces) are sent by OTLP/HTTP' },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: { text: 'as above, with its path',
    about: 'The same for traces alone' },
  OTEL_EXPORTER_OTLP_PROTOCOL: { oneOf: ['http/json', 'http/protobuf'], default: 'http/json',
    about: 'Read so that `grpc` is refused: JSON is sent in either case' },
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: { oneOf: ['http/json', 'http/protobuf'], otherwise: '`OTEL_EXPORTER_OTLP_PROTOCOL`',
    about: 'The same for traces alone' },
  OTEL_TRACES_SAMPLER: { oneOf: ['always_on', 'parentbased_always_on', 'always_off', 'parentbased_always_off', 'traceidratio', 'parentbased_traceidratio'], default: 'parentbased_always_on',
    about: 'Which requests are recorded, when all are too many' },
  OTEL_TRACES_SAMPLER_ARG: { text: '0 to 1', default: '1',
    about: 'The share that a sampler `traceidratio` records' },
  OTEL_BSP_SCHEDULE_DELAY: { from: 1, to: 600_000, unit: 'milliseconds', default: 5_000,
    about: 'How long spans are gathered before they are sent' },
  OTEL_BSP_EXPORT_TIMEOUT: { from: 1, to: 600_000, unit: 'milliseconds', default: 30_000,
    about: 'How long the collector may take' },
  OTEL_BSP_MAX_QUEUE_SIZE: { from: 1, to: 100_000, unit: 'spans', default: 2_048,
    about: 'How many wait for the collector: more when spans are dropped while it is there' },
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: { from: 1, to: 100_000, unit: 'spans', default: 512,
    about: 'How many are sent at once: fewer when the collector refuses large batches' },
  OTEL_SDK_DISABLED: { text: '`true`, `false`', default: 'false',
    about: '`true` when traces are configured and not wanted' },
  OTEL_TRACES_EXPORTER: { text: '`otlp`, `none`', default: 'otlp',
    about: '`none` does the same' },
} as const satisfies Record<string, Setting & Kind>;

export type Variable = keyof typeof SETTINGS;

/** What a setting is when it has been read; undefined where it is not set and has no default. */
export type Value<V extends Variable> = (typeof SETTINGS)[V] extends { readonly oneOf: readonly (infer T)[] }
  ? T | Absent<V>
  : (typeof SETTINGS)[V] extends { readonly from: number }
    ? number | Absent<V>
    : string | Absent<V>;

type Absent<V extends Variable> = (typeof SETTINGS)[V] extends { readonly default: string | number }
  ? never
  : undefined;

/** Production unless told otherwise (contract A12). Development serves its document and makes its own key. */
export type Environment = Value<'TODO_ENVIRONMENT'>;
export type LogLevel = Value<'TODO_LOG_LEVEL'>;

export const VARIABLES: readonly Variable[] = Object.keys(SETTINGS).filter(isVariable);

/** Where types lead nowhere: one view of all rows. */
export function settingOf(variable: Variable): Setting & Kind {
  return SETTINGS[variable];
}

function isVariable(name: string): name is Variable {
  return Object.hasOwn(SETTINGS, name);
}

/** `--data-dir`; undefined for a variable without a flag. */
export function flagOf(variable: Variable): string | undefined {
  if (settingOf(variable).flag === undefined) return undefined;
  return `--${variable.slice('TODO_'.length).toLowerCase().replaceAll('_', '-')}`;
}

/** What holds when it is not set, in Markdown. */
export function defaultOf(variable: Variable): string {
  const { default: value, development, otherwise = 'none' } = settingOf(variable);
  if (value === undefined) return otherwise;
  return development === undefined ? `\`${value}\`` : `\`${value}\`, in development \`${development}\``;
}

/** What it may hold, in Markdown. */
export function valuesOf(variable: Variable): string {
  const setting = settingOf(variable);
  if ('oneOf' in setting) return setting.oneOf.map((one) => `\`${one}\``).join(', ');
  if ('host' in setting) return 'an address or a name';
  if ('text' in setting) return setting.text;
  return `${setting.unit === undefined ? '' : `${setting.unit}, `}${setting.from} to ${setting.to}`;
}
