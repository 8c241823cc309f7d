import { StoreNotOpened } from '../store.ts';

/** What this service understands, by its name in libpq, with libpq's variable for it; the rest is refused. */
const PARAMETERS = {
  application_name: 'PGAPPNAME',
  dbname: 'PGDATABASE',
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

/** Values by their names in libpq. */
type Values = Readonly<Partial<Record<Name, string>>>;

/** Named when they are refused. Any other name is not: it may be a part of a password. */
const NOT_SUPPORTED = `channel_binding client_encoding connect_timeout fallback_application_name gssdelegation
  gssencmode gsslib hostaddr keepalives keepalives_count keepalives_idle keepalives_interval krbsrvname
  load_balance_hosts max_protocol_version min_protocol_version passfile replication require_auth requirepeer service
  servicefile sslcertmode sslcompression sslcrl sslcrldir sslkeylogfile ssl_max_protocol_version
  ssl_min_protocol_version sslpassword sslsni statement_timeout tcp_user_timeout uselibpqcompat`.split(/\s+/);

/** Variables of libpq that choose a server or make a connection safer, and that this service does not understand. */
const UNSUPPORTED_VARIABLES = [
  'PGSERVICE',
  'PGHOSTADDR',
  'PGLOADBALANCEHOSTS',
  'PGCHANNELBINDING',
  'PGREQUIREAUTH',
  'PGREQUIREPEER',
  'PGSSLCRL',
  'PGSSLCRLDIR',
  'PGSSLMINPROTOCOLVERSION',
  'PGSSLMAXPROTOCOLVERSION',
];

/** Scheme, user and password, hosts with ports, database, parameters. What they are is looked at one by one. */
const SYNTAX = /^postgres(?:ql)?:\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^@/?]*)(?:\/([^@?]*))?(?:\?([^@]*))?$/s;
const HOST = /^(?:\[([0-9A-Fa-f:.]+(?:%25[\w.]+)?)\]|([^[\]:]*))(?::(\d*))?$/;

const UNREADABLE = 'its connection string cannot be read';

/** What a connection string says, and what a variable says where the string is silent. Several hosts, or ports, have commas between. */
export interface Parameters {
  readonly inString: Values;
  readonly get: (name: Name) => string | undefined;
}

/**
 * Reads a connection string as libpq does: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 * Stricter in one point: an "@" outside its place is invalid, because what follows it may be the end of a password. The
 * driver's own reader knows one host and no `target_session_attrs`, takes any word for `sslmode`, and quotes the string.
 *
 * @throws {StoreNotOpened} The message quotes nothing of the string but a name that libpq knows.
 */
export function readParameters(text: string, env: NodeJS.ProcessEnv): Parameters {
  const variable = UNSUPPORTED_VARIABLES.find((name) => env[name]);
  const inString = valuesIn(text);
  if (variable !== undefined) throw invalid(`the variable ${variable} is not supported`);
  const get = (name: Name) => inString[name] ?? (env[PARAMETERS[name] ?? ''] || undefined);
  return { inString, get };
}

function valuesIn(text: string): Values {
  const parts = SYNTAX.exec(text);
  if (parts === null) {
    throw invalid(`${UNREADABLE}: in user and password write "@" as %40, "/" as %2F, "?" as %3F`);
  }
  const [, user, password, hostList = '', dbname, query = ''] = parts;
  const listed = hostList === '' ? [] : hostList.split(',').map((host) => HOST.exec(host));
  if (listed.includes(null)) throw invalid(UNREADABLE);
  const values: { -readonly [Each in Name]?: string } = {};
  if (user) values.user = decoded(user);
  if (password) values.password = decoded(password);
  if (dbname) values.dbname = decoded(dbname);
  if (listed.length > 0) values.host = listed.map((host) => decoded(host?.[1] ?? host?.[2] ?? '')).join();
  values.port = listed.map((host) => host?.[3] ?? '').join();
  for (const pair of query === '' ? [] : query.split('&')) {
    const at = pair.indexOf('=');
    const name = decoded(pair.slice(0, Math.max(at, 0)));
    if (isKnown(name)) values[name] = decoded(pair.slice(at + 1));
    else if (NOT_SUPPORTED.includes(name))
      throw invalid(`"${name}" in its connection string is not supported`);
    else throw invalid('its connection string has a parameter that is not known');
  }
  if (/^,*$/.test(values.port)) delete values.port;
  return values;
}

function isKnown(name: string): name is Name {
  return Object.hasOwn(PARAMETERS, name);
}

/** A connection string that will not do, and why. */
export function invalid(why: string): StoreNotOpened {
  return new StoreNotOpened('unusable', `Cannot open the database: ${why}`);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // The message may quote what could not be decoded.
    throw invalid(UNREADABLE);
  }
}
