/** A setting. Its sentence is for the help of `serve` and, with its links, for docs/configuration.md. */
interface Setting {
  /** The placeholder of the value in help; without it there is no flag. */
  readonly flag?: string;
  /** Whether the name in lower case counts too, and then first, as in other programs. */
  readonly anyCase?: true;
  /** Another program's variable that counts where neither flag nor variable is given. */
  readonly otherVariable?: string;
  /** The value when it is not set. Without a default, `otherwise` may say what happens then. */
  readonly default?: string | number;
  /** The same in development, where it differs. */
  readonly development?: string | number;
  readonly otherwise?: string;
  /**
   * What its value is, for what may be shown of it (contract D18): `open`, never a secret, so that `config` prints it
   * whole; the name of a `file`, or of a `folder` that is made when missing; an `address`. Without it a word or a number.
   */
  readonly is?: 'open' | 'file' | 'folder' | 'address';
  readonly about: string;
}

/**
 * The kind of value: one of several words, a whole number, the name of a host, or text that its module parses, of which
 * docs/configuration.md has an example that is not the default.
 */
type Kind =
  | { readonly oneOf: readonly string[] }
  | { readonly from: number; readonly to: number; readonly unit?: string }
  | { readonly host: true }
  /** `noComment`: a "#" behind white space is a fault. `one`: several are, and a placeholder (contract D18). */
  | {
      readonly text: string;
      readonly example: string;
      readonly noComment?: true;
      readonly one?: 'issuer' | 'address';
    };

/** Every variable that is read. OpenTelemetry itself reads the headers of its exporter, which are secret. */
// biome-ignore format: a setting is a row
export const SETTINGS = {
  TODO_PROFILE: { flag: 'shared-list|error-demo', oneOf: ['shared-list', 'error-demo'], default: 'shared-list',
    about: 'The todo list, or the [error demo](interface.md#the-error-demo), which needs no other setting' },
  TODO_ENVIRONMENT: { flag: 'development|production', oneOf: ['development', 'production'], default: 'production',
    about: 'Development makes its own key, and serves `/openapi/v1.json` and `/scalar`. Never where others can connect' },
  TODO_HOST: { flag: 'HOST', host: true, default: '127.0.0.1',
    about: 'Address of the listener. `0.0.0.0` for a proxy on another machine or in a container' },
  TODO_PORT: { flag: 'PORT', otherVariable: 'PORT', from: 0, to: 65_535, default: 5080,
    about: 'Port of the listener; 0 picks and prints a free one. Without it [`PORT`](installation.md#platforms-that-set-port) counts' },
  TODO_SOCKET: { flag: 'PATH', text: 'an absolute path of at most 96 bytes', is: 'file', example: '/run/todo-service/public.sock',
    about: 'File of a [Unix socket](contract.md#d13) to listen on, in place of host and port. Its folder must be there' },
  TODO_SOCKET_MODE: { oneOf: ['600', '660', '666'], default: '660',
    about: 'Mode of that file: who may connect' },
  LISTEN_FDS: { text: '`1`', is: 'open', example: '1',
    about: 'Set by systemd, or another parent that [gives the socket](contract.md#d13), for the process `LISTEN_PID`, whatever host, port and `TODO_SOCKET` say' },
  TODO_LOG_LEVEL: { oneOf: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], default: 'info', development: 'debug',
    about: 'Lowest level that is written. `debug` adds a line for each request' },
  TODO_AUDIT: { oneOf: ['on', 'off'], default: 'on',
    about: 'Lines about [who changed what](logging.md#who-changed-what). `off` when the log must not name people' },
  TODO_DATA_DIR: { flag: 'DIR', text: 'a folder, made when missing', default: 'data', is: 'folder', example: '/var/lib/todo-service',
    about: 'Place of database file and development key: in production an absolute path on a local disk, with systemd in `ReadWritePaths`' },
  TODO_DATABASE: { flag: 'sqlite:PATH|postgres://…', text: '`sqlite:<path>`, `postgres://…`', otherwise: '`sqlite:<data dir>/todos.db`', is: 'address', example: 'postgres://todo@db.example/todos?sslmode=verify-full',
    about: '[Engine](sizing.md#choosing-an-engine) and place of the todos. On a command line, others can read a password' },
  TODO_DATABASE_PASSWORD_FILE: { text: 'a file in UTF-8 (one final line break is dropped)', is: 'file', example: '/etc/todo-service/password',
    about: 'PostgreSQL: the password, in place of one in `TODO_DATABASE` or `PGPASSWORD`. [It may change](postgresql.md#a-password-that-changes)' },
  TODO_CACHE_MB: { from: 0, to: 99_999, unit: 'MiB', default: 64,
    about: 'SQLite: memory for single todos. The default holds some 170,000 with short titles' },
  TODO_DATABASE_CONNECTIONS: { from: 1, to: 1_000, default: 10,
    about: 'PostgreSQL: connections for single todos. Raise it at the alert `TodoPoolExhausted`, within [what the server admits](postgresql.md#connections)' },
  TODO_DATABASE_PREPARE: { oneOf: ['auto', 'false'], default: 'auto',
    about: 'PostgreSQL: `false` prepares no statement by name, for a [pooler](postgresql.md#behind-a-pooler) that is not recognized' },
  TODO_AUTH_ISSUER: { text: 'the `iss` of your tokens, exactly', noComment: true, is: 'address', one: 'issuer', example: 'https://login.example.org',
    about: 'Trusted issuer: [values by provider](identity-providers.md)' },
  TODO_AUTH_AUDIENCE: { text: 'the `aud` of tokens for this service, or a [list](configuration.md#lists)', noComment: true, is: 'open', example: 'todo-service',
    about: 'Audience of the tokens; one of a list is enough' },
  TODO_AUTH_AUDIENCE_CLAIM: { text: 'a claim or JSON Pointer', noComment: true, otherwise: '`aud`', is: 'open', example: 'client_id',
    about: 'Claim with the audience, for tokens without `aud`: `client_id`, `azp`, `org_id`. An `aud` must match too' },
  TODO_AUTH_REQUIRED_CLAIMS: { text: 'a [list](configuration.md#lists) of `name=value` and `!name`', is: 'open', example: 'token_use=access,/o/id=org_1,!at_hash',
    about: 'Claims that tokens must have, or lack (`!`): for a public issuer, or ID tokens with the same audience' },
  TODO_AUTH_TOKEN_TYPE: { text: '`at+jwt`, `JWT`', otherwise: 'either, or none', example: 'at+jwt',
    about: 'Header `typ` that tokens must have. `at+jwt` if access tokens have it (RFC 9068)' },
  TODO_AUTH_JWKS_URL: { text: 'an `https` address', noComment: true, otherwise: 'OpenID discovery', is: 'address', one: 'address', example: 'https://login.example.org/keys',
    about: 'Address of the keys of an issuer without discovery' },
  TODO_AUTH_KEYS_FILE: { text: 'a file: PEM public key, JWK or JWKS', is: 'file', example: '/etc/todo-service/keys.jwks',
    about: 'Keys of an issuer that the service cannot reach. [They may change](installation.md#secrets-that-change)' },
  TODO_AUTH_SECRET_FILE: { text: 'a file of 1–5 lines `base64:…` or `text:…`', is: 'file', example: '/etc/todo-service/secret',
    about: 'Secrets of an issuer that signs with HS256, HS384 or HS512. [They change in three steps](identity-providers.md#an-hmac-secret-is-changed-in-three-steps)' },
  TODO_AUTH_ROLE_CLAIM: { text: 'a claim or JSON Pointer', noComment: true, otherwise: '`role` and `roles`', is: 'open', example: '/realm_access/roles',
    about: 'Claim with the roles' },
  TODO_AUTH_EDITOR_ROLE: { text: 'a role or [list](configuration.md#lists)', otherwise: '`editor`', is: 'open', example: 'Todo-editors',
    about: 'Role that may write, in exactly these letters. When set, `editor` means nothing' },
  TODO_AUTH_NAME_CLAIM: { text: 'a claim or JSON Pointer', noComment: true, otherwise: '`name`, else `unique_name`', is: 'open', example: 'preferred_username',
    about: 'Claim with the name in `/me`' },
  TODO_AUTH_CLOCK_TOLERANCE: { from: 0, to: 300, unit: 'seconds', default: 30, development: 0,
    about: 'Clock error that is forgiven. Raise it when tokens are `expired` or `not-yet-valid` and no clock can be corrected. Tokens of an issuer have 30 in development too' },
  TODO_AUTH_KEYS_REFRESH_SECONDS: { from: 1, to: 86_400, unit: 'seconds', default: 600,
    about: 'Time between fetches of keys. Lower it when a withdrawn key must end sooner' },
  TODO_AUTH_KEYS_COOLDOWN_SECONDS: { from: 1, to: 3_600, unit: 'seconds', default: 30,
    about: 'Least time between fetches for tokens that no key verifies ([A7](contract.md#a7)). Raise it when the issuer limits requests' },
  HTTPS_PROXY: { anyCase: true, text: '`http://…` or `https://…`', is: 'address', example: 'http://proxy.example.org:3128',
    about: 'Proxy to the issuer, with user and password if needed; also in lower case. Not for loopback and `NO_PROXY`' },
  NO_PROXY: { anyCase: true, text: 'comma-separated: `login.example.org`, `login.example.org:8443`, `.example.org` (and all below), `10.0.0.1-10.0.0.9`, `*`', example: '.example.org',
    about: 'Issuers asked without the proxy. No name is looked up; `10.0.0.0/8` is no range' },
  TODO_CORS_ORIGINS: { text: 'exact origins, comma-separated', example: 'https://app.example.org',
    about: 'Origins whose [pages](behind-a-proxy.md#pages-of-other-origins) may call the service from a browser' },
  TODO_MAX_CONNECTIONS: { from: 1, to: 1_000_000, default: 1_000,
    about: 'Connections at a time; one more is closed at once. Raise it only with [the memory that they cost](limits.md#what-connections-cost)' },
  TODO_KEEP_ALIVE_SECONDS: { from: 5, to: 3_600, unit: 'seconds', default: 75,
    about: 'Life of an idle connection, longer than at the load balancer: [620 for Google\'s](behind-a-proxy.md)' },
  TODO_SHUTDOWN_SECONDS: { from: 0, to: 3_600, unit: 'seconds', default: 10,
    about: 'Time for answers at [a stop](commands.md#signals). Raise it for slow readers of long lists' },
  TODO_SHUTDOWN_DELAY_SECONDS: { from: 0, to: 3_600, unit: 'seconds', default: 0,
    about: 'Time between `/ready` as 503 and the stop, for a [load balancer](behind-a-proxy.md#haproxy-and-nginx) to notice' },
  TODO_ADMIN_PORT: { from: 0, to: 65_535, otherwise: 'none: no admin listener',
    about: 'Port of a second listener, for [operators](monitoring.md). 0 picks and prints a free one' },
  TODO_ADMIN_HOST: { host: true, default: '127.0.0.1',
    about: 'Address of that listener, which asks for no token: only for probes and Prometheus' },
  OTEL_EXPORTER_OTLP_ENDPOINT: { text: '`http://…` or `https://…`', is: 'address', one: 'address', example: 'http://collector:4318',
    about: 'Address for [traces](monitoring.md#traces), by OTLP/HTTP, without its `/v1/traces`' },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: { text: 'an address with its path', is: 'address', one: 'address', example: 'http://collector:4318/v1/traces',
    about: 'As `OTEL_EXPORTER_OTLP_ENDPOINT`, for traces alone' },
  OTEL_EXPORTER_OTLP_PROTOCOL: { oneOf: ['http/json', 'http/protobuf'], default: 'http/json',
    about: 'JSON is sent in either case; `grpc` is refused' },
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: { oneOf: ['http/json', 'http/protobuf'], otherwise: '`OTEL_EXPORTER_OTLP_PROTOCOL`',
    about: 'For traces alone' },
  OTEL_EXPORTER_OTLP_TIMEOUT: { from: 1, to: 600_000, unit: 'milliseconds', default: 10_000,
    about: 'Time for one attempt to send. Raise it for a slow collector' },
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: { from: 1, to: 600_000, unit: 'milliseconds', otherwise: '`OTEL_EXPORTER_OTLP_TIMEOUT`',
    about: 'For traces alone' },
  OTEL_EXPORTER_OTLP_COMPRESSION: { oneOf: ['none', 'gzip'], default: 'none',
    about: 'Compression of batches. `gzip` when the network costs more than the processor' },
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: { oneOf: ['none', 'gzip'], otherwise: '`OTEL_EXPORTER_OTLP_COMPRESSION`',
    about: 'For traces alone' },
  OTEL_EXPORTER_OTLP_CERTIFICATE: { text: 'a file in PEM', otherwise: 'those that Node.js trusts', is: 'file', example: '/etc/todo-service/collector-ca.pem',
    about: 'Authority of the certificate of the collector' },
  OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: { text: 'a file in PEM', is: 'file', example: '/etc/todo-service/collector-ca.pem',
    about: 'For traces alone' },
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: { text: 'a file in PEM', is: 'file', example: '/etc/todo-service/client.pem',
    about: 'Certificate of the service, for a collector that asks for one' },
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: { text: 'a file in PEM', is: 'file', example: '/etc/todo-service/client.pem',
    about: 'For traces alone' },
  OTEL_EXPORTER_OTLP_CLIENT_KEY: { text: 'a file in PEM', is: 'file', example: '/etc/todo-service/client.key',
    about: 'Private key of the client certificate' },
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: { text: 'a file in PEM', is: 'file', example: '/etc/todo-service/client.key',
    about: 'For traces alone' },
  OTEL_SERVICE_NAME: { text: 'a name', default: 'todo-service', example: 'todo-staging',
    about: 'Name of the service in traces' },
  OTEL_RESOURCE_ATTRIBUTES: { text: '`name=value,…`, percent-encoded', example: 'deployment.environment.name=production',
    about: 'Attributes of all spans. `service.instance.id` is random by default' },
  OTEL_PROPAGATORS: { text: '`tracecontext`, with `baggage` or without', default: 'tracecontext,baggage', example: 'tracecontext',
    about: 'Headers with the trace of a caller: only `traceparent` and `tracestate`' },
  OTEL_TRACES_SAMPLER: { oneOf: ['always_on', 'parentbased_always_on', 'always_off', 'parentbased_always_off', 'traceidratio', 'parentbased_traceidratio'], default: 'parentbased_always_on',
    about: 'Requests that are recorded. A ratio when there are too many' },
  OTEL_TRACES_SAMPLER_ARG: { text: '0–1', default: '1', example: '0.1',
    about: 'Share that `traceidratio` records' },
  OTEL_BSP_SCHEDULE_DELAY: { from: 1, to: 600_000, unit: 'milliseconds', default: 5_000,
    about: 'Time in which spans are gathered. Lower it to see them sooner' },
  OTEL_BSP_EXPORT_TIMEOUT: { from: 1, to: 600_000, unit: 'milliseconds', default: 30_000,
    about: 'Time for all attempts to send a batch. Raise it for a slow collector' },
  OTEL_BSP_MAX_QUEUE_SIZE: { from: 1, to: 100_000, unit: 'spans', default: 2_048,
    about: 'Spans that wait. Raise it when the collector runs and spans are lost' },
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: { from: 1, to: 100_000, unit: 'spans', default: 512,
    about: 'Spans of one batch. Lower it when the collector refuses large ones' },
  OTEL_SDK_DISABLED: { text: '`true`, `false`', default: 'false', example: 'true',
    about: '`true` switches traces off' },
  OTEL_TRACES_EXPORTER: { oneOf: ['otlp', 'none'], default: 'otlp',
    about: '`none` switches traces off too' },
} as const satisfies Record<string, Setting & Kind>;

export type Variable = keyof typeof SETTINGS;

/** The type of a setting's value; undefined where it may be unset and has no default. */
export type Value<V extends Variable> = (typeof SETTINGS)[V] extends { readonly oneOf: readonly (infer T)[] }
  ? T | Absent<V>
  : (typeof SETTINGS)[V] extends { readonly from: number }
    ? number | Absent<V>
    : string | Absent<V>;

type Absent<V extends Variable> = (typeof SETTINGS)[V] extends { readonly default: string | number }
  ? never
  : undefined;

/** Production by default (contract A12). Development serves its document and makes its own key. */
export type Environment = Value<'TODO_ENVIRONMENT'>;
export type LogLevel = Value<'TODO_LOG_LEVEL'>;

export const VARIABLES = Object.keys(SETTINGS) as readonly Variable[];

/** One view of all rows, for code that types cannot follow. */
export function settingOf(variable: Variable): Setting & Kind {
  return SETTINGS[variable];
}

/** `data-dir`, of the flag `--data-dir`; undefined for a variable without a flag. */
export function flagOf(variable: Variable): string | undefined {
  if (settingOf(variable).flag === undefined) return undefined;
  return variable.slice('TODO_'.length).toLowerCase().replaceAll('_', '-');
}

/** The value of a setting that is not set, in Markdown. */
export function defaultOf(variable: Variable): string {
  const { default: value, development, otherwise = 'none' } = settingOf(variable);
  if (value === undefined) return otherwise;
  return development === undefined ? `\`${value}\`` : `\`${value}\`, in development \`${development}\``;
}

/** The values of a setting, in Markdown. */
export function valuesOf(variable: Variable): string {
  const setting = settingOf(variable);
  if ('oneOf' in setting) return setting.oneOf.map((one) => `\`${one}\``).join(', ');
  if ('host' in setting) return 'an address or name';
  if ('text' in setting) return setting.text;
  return `${setting.from}–${setting.to}${setting.unit === undefined ? '' : ` ${setting.unit}`}`;
}
