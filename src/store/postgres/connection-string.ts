import { StoreNotOpened } from '../store.ts';

/** What a connection string says, before the environment fills in the rest. */
export interface ConnectionString {
  /** Empty where the string names no host. */
  readonly hosts: readonly string[];
  /** One for each host, or one for all, or none. */
  readonly ports: readonly string[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** The other parameters, by their name in libpq. */
  readonly parameters: Readonly<Parameters>;
}

type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>;

/** What this service understands, by its name in libpq; the rest is refused. */
const PARAMETERS = [
  'application_name',
  'dbname',
  'host',
  'options',
  'password',
  'port',
  'ssl',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslnegotiation',
  'sslrootcert',
  'target_session_attrs',
  'user',
] as const;

/** Named when they are refused. Any other name is not: it may be a part of a password. */
const NOT_SUPPORTED = `channel_binding client_encoding connect_timeout fallback_application_name gssdelegation
  gssencmode gsslib hostaddr keepalives keepalives_count keepalives_idle keepalives_interval krbsrvname
  load_balance_hosts max_protocol_version min_protocol_version passfile replication require_auth requirepeer service
  servicefile sslcertmode sslcompression sslcrl sslcrldir sslkeylogfile ssl_max_protocol_version
  ssl_min_protocol_version sslpassword sslsni statement_timeout tcp_user_timeout uselibpqcompat`.split(/\s+/);

/** Scheme, user and password, hosts with ports, database, parameters. What they are is looked at one by one. */
const SYNTAX = /^postgres(?:ql)?:\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^@/?]*)(?:\/([^@?]*))?(?:\?([^@]*))?$/s;
const HOST = /^(?:\[([0-9A-Fa-f:.]+(?:%25[\w.]+)?)\]|([^[\]:]*))(?::(\d*))?$/;

const UNREADABLE = 'its connection string cannot be read';

/**
 * Reads a connection string as libpq does: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 * Stricter in one point: an "@" outside its place is invalid, because what follows it may be the end of a password.
 *
 * @throws {StoreNotOpened} The message quotes nothing of the string but a name that libpq knows.
 */
export function readConnectionString(text: string): ConnectionString {
  const parts = SYNTAX.exec(text);
  if (parts === null) {
    throw invalid(`${UNREADABLE}: in user and password write "@" as %40, "/" as %2F, "?" as %3F`);
  }
  const [, user, password, hostList = '', path = '', query = ''] = parts;
  const listed = hostList === '' ? [] : hostList.split(',').map((host) => HOST.exec(host));
  if (listed.includes(null)) throw invalid(UNREADABLE);
  const { host, port, user: otherUser, password: otherPassword, dbname, ...parameters } = parametersOf(query);
  const hosts = listed.map((match) => decoded(match?.[1] ?? match?.[2] ?? ''));
  return {
    hosts: host === undefined ? hosts : host.split(','),
    ports: port === undefined ? listed.map((match) => match?.[3] ?? '') : port.split(','),
    user: otherUser ?? (user ? decoded(user) : undefined),
    password: otherPassword ?? (password ? decoded(password) : undefined),
    database: dbname ?? (path ? decoded(path) : undefined),
    parameters,
  };
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

function parametersOf(query: string): Parameters {
  const given: Parameters = {};
  for (const pair of query === '' ? [] : query.split('&')) {
    const at = pair.indexOf('=');
    const name = decoded(pair.slice(0, Math.max(at, 0)));
    const known = PARAMETERS.find((each) => each === name);
    if (known !== undefined) given[known] = decoded(pair.slice(at + 1));
    else if (NOT_SUPPORTED.includes(name))
      throw invalid(`"${name}" in its connection string is not supported`);
    else throw invalid('its connection string has a parameter that is not known');
  }
  return given;
}
