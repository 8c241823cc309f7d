import { isIPv6 } from 'node:net';
import { userInfo } from 'node:os';
import { NotUsable, orUndefined } from '../lib/errors.ts';

/** The supported parameters, by their names in libpq, with libpq's variables for them; all others are refused. */
const PARAMETERS = {
  application_name: 'PGAPPNAME',
  channel_binding: 'PGCHANNELBINDING',
  client_encoding: 'PGCLIENTENCODING',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  dbname: 'PGDATABASE',
  gssencmode: 'PGGSSENCMODE',
  host: 'PGHOST',
  options: 'PGOPTIONS',
  password: 'PGPASSWORD',
  port: 'PGPORT',
  ssl: undefined,
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslmode: 'PGSSLMODE',
  sslnegotiation: 'PGSSLNEGOTIATION',
  sslrootcert: 'PGSSLROOTCERT',
  target_session_attrs: 'PGTARGETSESSIONATTRS',
  user: 'PGUSER',
} as const;

type Name = keyof typeof PARAMETERS;
type WithVariable = Exclude<Name, 'ssl'>;

/** Values by their names in libpq. */
type Values = Readonly<Partial<Record<Name, string>>>;

/**
 * Parameters that are refused by name: of libpq, then of other clients (Prisma, SQLAlchemy, JDBC, pgx, Vercel); by what to
 * do in their place. An unknown parameter is refused without its name, which may be part of a password.
 */
const REFUSED = {
  'write "application_name"': 'fallback_application_name',
  'write the address as the host': 'hostaddr',
  'write what the service file says': 'service servicefile',
  'write "options"': 'server_settings',
  'write "sslmode=verify-full", or "sslmode=no-verify" to verify nothing': 'sslaccept uselibpqcompat',
  'write "sslcert" and "sslkey", files in PEM without a passphrase': 'sslpassword sslidentity',
  'set TODO_DATABASE_PASSWORD_FILE': 'passfile',
  'set TODO_DATABASE_CONNECTIONS': 'connection_limit max_overflow pool_max_conns pool_size',
  'say ALTER ROLE … SET search_path = …': 'currentSchema schema search_path',
  'leave it out, with "channel_binding=require" or "sslmode=verify-full"': 'require_auth',
  'leave it out: PgBouncer is recognized; for another pooler set TODO_DATABASE_PREPARE=false':
    'pgbouncer prepared_statement_cache_size prepared_statements statement_cache_size',
  'leave it out: the service has limits of its own': `keepalives keepalives_count keepalives_idle keepalives_interval
    pool_pre_ping pool_timeout socket_timeout statement_timeout tcp_user_timeout`,
  'leave it out: revoked certificates are not looked up': 'sslcrl sslcrldir',
  'leave it out: TLS is version 1.2 or 1.3': 'ssl_max_protocol_version ssl_min_protocol_version',
  'leave it out: the service logs in by a password or a certificate': `gssdelegation gsslib krbsrvname oauth_client_id
    oauth_client_secret oauth_issuer oauth_scope scram_client_key scram_server_key`,
  'leave it out: the encoding is UTF8': 'charset encoding',
  'leave it out': `load_balance_hosts max_protocol_version min_protocol_version replication requirepeer sslcertmode
    sslcompression sslkeylogfile sslsni supa workaround`,
};

/** Variables of libpq that choose a server or make a connection safer, and that this service does not support. */
const UNSUPPORTED_VARIABLES =
  `PGSERVICE PGHOSTADDR PGLOADBALANCEHOSTS PGREQUIREAUTH PGREQUIREPEER PGREQUIRESSL
  PGSSLCERTMODE PGSSLCRL PGSSLCRLDIR PGSSLMINPROTOCOLVERSION PGSSLMAXPROTOCOLVERSION`.split(/\s+/);

/**
 * Scheme, user and password, hosts with ports, database, parameters; each part is checked by itself. An "@" or a "#"
 * outside its place is invalid, because the text before or behind it may be part of a password. A "&" or a "=" in the
 * name of the database is invalid too: messages show the name, and parameters without their "?" would be part of it.
 */
const SYNTAX =
  /^postgres(?:ql)?:\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?([^@/?#]*)(?:\/([^@?#&=]*))?(?:\?([^@#]*))?$/s;
const LISTED_HOST = /^(?:\[([0-9A-Fa-f:.]+(?:%25[\w.]+)?)\]|([^[\]:]*))(?::(\d*))?$/;

const UNREADABLE = 'the connection string cannot be read';

export type Connection = ReturnType<typeof readConnectionString>;

/**
 * Reads a connection string as libpq does:
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS Makes no connection and reads no file.
 * The driver's own reader supports one host and no `target_session_attrs`, takes any word for `sslmode`, and quotes the
 * string.
 *
 * @param variable The value of a variable of the environment; undefined for an empty one.
 * @throws {NotUsable} The message quotes nothing of the string but a known name.
 */
export function readConnectionString(text: string, variable: (name: string) => string | undefined) {
  const inString = valuesIn(text);
  const unsupported = UNSUPPORTED_VARIABLES.find((name) => variable(name) !== undefined);
  if (unsupported !== undefined) throw new NotUsable(`the variable ${unsupported} is not supported`);
  const get = (name: WithVariable) => inString[name] ?? variable(PARAMETERS[name]);

  /** The fault of a parameter, or of its variable where that decides. */
  const mustBe = (name: Name, wanted: string) =>
    new NotUsable(`${inString[name] === undefined ? PARAMETERS[name] : `"${name}"`} must be ${wanted}`);

  /** The value of a parameter, or of its variable where that decides. */
  function oneOf<T extends string>(name: Name, allowed: readonly T[], received: string, why = ''): T {
    const found = allowed.find((one) => one === received);
    if (found !== undefined) return found;
    const [last, ...before] = allowed.map((one) => `"${one}"`).reverse();
    throw mustBe(name, `${before.reverse().join(', ')} or ${last}${why}`);
  }

  const attributes = get('target_session_attrs') ?? 'any';
  const why = ': the service needs a server that takes writes';
  oneOf('target_session_attrs', ['any', 'read-write', 'primary'], attributes, why);
  const { ssl, sslrootcert, sslcert, sslkey } = inString;
  if (ssl !== undefined && ssl !== 'true') throw new NotUsable('"ssl" must be "true": use "sslmode"');
  const asked = ssl ?? sslrootcert ?? sslcert ?? sslkey;
  const mode = asked === undefined ? (get('sslmode') ?? 'disable') : (inString.sslmode ?? 'verify-full');
  oneOf('sslmode', ['verify-full', 'verify-ca', 'require', 'prefer', 'no-verify', 'disable'], mode);
  oneOf('gssencmode', ['disable', 'prefer'], get('gssencmode') ?? 'disable', ': TLS encrypts');
  if (!/^utf-?8$/i.test(get('client_encoding') ?? 'UTF8')) throw mustBe('client_encoding', '"UTF8"');
  const binding = get('channel_binding') ?? 'disable';
  const channelBinding = oneOf('channel_binding', ['require', 'prefer', 'disable'], binding);
  const negotiation = oneOf('sslnegotiation', ['postgres', 'direct'], get('sslnegotiation') ?? 'postgres');
  if (mode === 'disable') {
    const withTls = (value: string) => `with TLS where it is "${value}": add "sslmode=verify-full"`;
    if (channelBinding === 'require') throw mustBe('channel_binding', withTls('require'));
    if (negotiation === 'direct') throw mustBe('sslnegotiation', withTls('direct'));
    if (ssl !== undefined) throw mustBe('sslmode', 'another than "disable" beside "ssl=true"');
  }
  const timeout = get('connect_timeout');
  if (!/^(?:[1-9]|10)$/.test(timeout ?? '10'))
    throw mustBe('connect_timeout', 'a number of seconds from 1 to 10: a start ends within 10 s');
  const user = get('user') || userOfProcess();
  return {
    /** At least one, in the order in which they are tried. `host` is a name, an address, or the folder of a Unix socket. */
    hosts: hostsOf(get('host') ?? '', get('port') ?? ''),
    user,
    database: get('dbname') || user,
    password: get('password'),
    hasPassword: inString.password !== undefined,
    applicationName: get('application_name') ?? 'todo-service',
    options: get('options'),
    /** Undefined: no TLS. Every mode with TLS but `no-verify` verifies the certificate and its name. */
    tls:
      mode === 'disable'
        ? undefined
        : {
            verify: mode !== 'no-verify',
            /** Paths of files in PEM. */
            root: get('sslrootcert'),
            certificate: get('sslcert'),
            key: get('sslkey'),
          },
    channelBinding,
    /** Milliseconds for one try to connect. */
    connectMs: timeout === undefined ? Number.POSITIVE_INFINITY : Number(timeout) * 1_000,
    negotiation,
  };
}

function valuesIn(text: string): Values {
  const parts = SYNTAX.exec(text);
  if (parts === null)
    throw new NotUsable(
      `${UNREADABLE}: in it write "@" as %40, "/" as %2F, "?" as %3F, "#" as %23, and "?" before parameters`,
    );
  const [, user, password, hostList = '', dbname, query = ''] = parts;
  const listed = hostList === '' ? [] : hostList.split(',').map(hostIn);
  const values: { -readonly [Each in Name]?: string } = {};
  if (user) values.user = decoded(user);
  if (password) values.password = decoded(password);
  if (dbname) values.dbname = decoded(dbname);
  if (listed.length > 0) values.host = listed.map(({ host }) => decoded(host)).join();
  values.port = listed.map(({ port }) => port).join();
  if (/^,*$/.test(values.port)) delete values.port;
  const seen = new Set<string>();
  for (const pair of query === '' ? [] : query.replace(/&$/, '').split('&')) {
    const at = pair.indexOf('=');
    const name = decoded(pair.slice(0, Math.max(at, 0)));
    if (!isKnown(name)) throw new NotUsable(faultOf(name));
    if (seen.has(name)) throw new NotUsable(`"${name}" in the connection string is given twice`);
    seen.add(name);
    values[name] = decoded(pair.slice(at + 1));
  }
  return values;
}

function hostIn(text: string) {
  const parts = LISTED_HOST.exec(text);
  if (parts === null) throw new NotUsable(UNREADABLE);
  const [, address, name = '', port = ''] = parts;
  return { host: address ?? name, port };
}

function isKnown(name: string): name is Name {
  return Object.hasOwn(PARAMETERS, name);
}

/** The fault of an unknown parameter. A known name in another spelling is quoted as it is known. */
function faultOf(name: string): string {
  const known = nameLike(name, Object.keys(PARAMETERS));
  if (known !== undefined) return `"${known}" in the connection string has another spelling`;
  for (const [instead, names] of Object.entries(REFUSED)) {
    const refused = nameLike(name, names.split(/\s+/));
    if (refused !== undefined) return `"${refused}" in the connection string is not supported: ${instead}`;
  }
  return 'the connection string has a parameter that is not known';
}

/** The name that differs from `name` by case, "-" and "_" alone. */
function nameLike(name: string, names: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[-_]/g, '');
  return names.find((each) => plain(each) === plain(name));
}

/** A NUL would end a value in the protocol. */
function decoded(part: string): string {
  const text = orUndefined(() => decodeURIComponent(part));
  if (text === undefined || text.includes('\0')) throw new NotUsable(UNREADABLE);
  return text;
}

/** The user of the process. In a container the user may be a number without a name. */
function userOfProcess(): string {
  const name = orUndefined(() => userInfo().username);
  if (name !== undefined) return name;
  throw new NotUsable('it must name a user, because the user of this process has no name');
}

function hostsOf(hostList: string, portList: string) {
  const names = hostList.split(',');
  const ports = portList.split(',');
  if (ports.length !== 1 && ports.length !== names.length)
    throw new NotUsable('it must have one port for all hosts, or one for each');
  return names.map((name, index) => {
    const host = name === '' ? 'localhost' : name;
    if (!/^(?:[\w.-]+|\/[^\0]*)$/.test(host) && !isIPv6(host))
      throw new NotUsable('the name of a host cannot be read');
    const port = ports[ports.length === 1 ? 0 : index] || '5432';
    if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
      throw new NotUsable('a port must be a number from 1 to 65535');
    return { host, port: Number(port) };
  });
}
