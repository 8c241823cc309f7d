import { Client } from 'pg';
import { messageOf } from '../../lib/errors.ts';
import { StoreNotWritable } from '../../shared-list/store.ts';
import type { Address, Host } from './address.ts';
import { requireChannelBinding } from './channel-binding.ts';
import { checkLogged, NOT_SYNCED } from './durability.ts';
import {
  type HostFailure,
  hasCode,
  INVALID_PASSWORD,
  isOfOtherEngine,
  isProtocolViolation,
  NoServer,
  ServerUnfit,
} from './error.ts';
import { PostgresConnection } from './postgres-connection.ts';
import { refuseUnknownLogins } from './unknown-logins.ts';

/** Milliseconds that a server has before the next of a list is tried as well. */
const NEXT_HOST_MS = 250;

/** Milliseconds without traffic after which the kernel asks whether the other side still lives. */
const KEEP_ALIVE_DELAY_MS = 10_000;

/** Milliseconds between two checks by which a server at work on a statement learns whether its client is there. */
const CLIENT_CHECK_INTERVAL_MS = 2_000;

export interface ConnectionRequirements {
  /** Milliseconds after which the server gives up a statement. */
  readonly statementMs: number;
  /** Whether the server must keep its settings for every statement, with a pooler between or without. */
  readonly strict: boolean;
  /** Whether the connection changes tables: a crash of the server must not empty any of them. */
  readonly writes?: boolean;
  /** Milliseconds to connect, log in and inspect. */
  readonly withinMs: number;
}

/** Called before a connection is opened. Its exception is the reason why there must be none. */
type Hold = (connection: PostgresConnection) => void;

/** The servers that a connection string names, of which one at a time takes writes. */
export class Cluster {
  readonly address: Address;
  /** Row security may hide rows without an error: a pooler has dropped the setting against that, and may again. */
  mayHideRows = false;
  #prepare: boolean;
  /** The host that is tried first: the last fit one. */
  #first: Host | undefined;
  #pooled = false;
  #retiredAt = 0;

  /** @param prepare False: no statement is prepared by name. */
  constructor(address: Address, prepare = true) {
    this.address = address;
    this.#prepare = prepare;
  }

  /** Takes every open connection out of use: its server may have lost its role. */
  retire(): void {
    this.#retiredAt = performance.now();
  }

  /** Prepares no statement by name any more, on any connection. */
  stopPreparing(): void {
    this.#prepare = false;
    this.retire();
  }

  isRetired(connection: PostgresConnection): boolean {
    return connection.openedAt <= this.#retiredAt;
  }

  /** A connection to a server that takes writes; a silent one is not waited for. @throws {NoServer} if none is fit. */
  open(requirements: ConnectionRequirements, hold: Hold = () => {}): Promise<PostgresConnection> {
    const hosts = [...new Set([this.#first ?? [], this.address.hosts].flat())];
    const failures: HostFailure[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<PostgresConnection>();
    let trying = 0;
    let found = false;
    const next = (): void => {
      const host = hosts.shift();
      if (host === undefined || found) {
        if (trying === 0 && !found) reject(new NoServer(failures));
        return;
      }
      trying += 1;
      const timer = setTimeout(next, NEXT_HOST_MS);
      const opening = this.#connect(host, requirements, hold, this.#pooled).finally(() => {
        clearTimeout(timer);
        trying -= 1;
      });
      opening.then(
        (connection) => {
          if (found) return void connection.leave();
          found = true;
          this.#first = host;
          this.#pooled = connection.pooled;
          resolve(connection);
        },
        (error: unknown) => {
          this.#pooled = false;
          failures.push({ host, error });
          next();
        },
      );
    };
    next();
    return promise;
  }

  /** @param bare Without startup settings, which a pooler may refuse. @param renewed A refused password has changed. */
  async #connect(
    host: Host,
    requirements: ConnectionRequirements,
    hold: Hold,
    bare: boolean,
    renewed = false,
  ): Promise<PostgresConnection> {
    const { config } = this.address;
    const { password } = config;
    let sent: string | undefined;
    const settings = Object.entries(bare ? {} : settingsFor(requirements)).map(
      ([name, value]) => `-c ${name}=${value.replaceAll("'", '')}`,
    );
    const client = new Client({
      ...config,
      ...host,
      password: typeof password === 'function' ? async () => (sent = await password()) : password,
      options: [config.options ?? [], settings].flat().join(' '),
      connectionTimeoutMillis: Math.min(requirements.withinMs, config.connectMs),
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    });
    refuseUnknownLogins(client.connection, Boolean(config.ssl));
    if (config.channelBinding === 'require') requireChannelBinding(client.connection);
    const connection = new PostgresConnection(client, host, config);
    hold(connection);
    try {
      await client.connect();
      const found = await inspect(connection, requirements);
      if (requirements.writes) await checkLogged(connection, requirements);
      this.mayHideRows ||= found.mayHideRows || connection.pooled;
      connection.prepares = this.#prepare && !connection.pooled;
      return connection;
    } catch (error) {
      const left = connection.leave();
      // A pooler does not take the settings: https://www.pgbouncer.org/config.html#ignore_startup_parameters.
      const refused = !bare && isProtocolViolation(error) && messageOf(error).includes('startup parameter');
      const changed =
        !renewed &&
        typeof password === 'function' &&
        hasCode(error, INVALID_PASSWORD) &&
        (await password().catch(() => sent)) !== sent;
      if (!refused && !changed) throw error;
      await left;
      return this.#connect(host, requirements, hold, bare || refused, renewed || changed);
    }
  }
}

/** The wanted settings of a session, with values as SQL writes them. */
function settingsFor({ statementMs }: ConnectionRequirements) {
  return {
    statement_timeout: `'${statementMs}ms'`,
    client_connection_check_interval: `'${CLIENT_CHECK_INTERVAL_MS}ms'`,
    // What a statement sets for itself is the only limit for locks: its error means another create with the key.
    lock_timeout: '0',
    idle_session_timeout: '0',
    client_min_messages: 'warning',
    // A connection whose pooler drops it is accepted, with `mayHideRows`.
    row_security: 'off',
  };
}

/** Contract D14. A balancer may give the process id of any of its servers: it cannot be recognized by that. */
const STANDBY = 'it is a standby, which takes no writes: behind a load balancer, switch load balancing off';

/** The state of a connection. No function is volatile: it goes where plain reads go. `unmet` are unfit settings. */
const inspectionFor = ({ statementMs }: ConnectionRequirements): string => `
  SELECT pg_backend_pid() AS pid, quote_ident(current_user) AS role, current_setting('in_hot_standby') = 'on' AS standby,
    current_setting('transaction_read_only') = 'on' AS "readOnly",
    current_setting('transaction_timeout', true) IS NOT NULL AS "endsTransactions",
    current_setting('row_security') = 'on' AS "mayHideRows", version() LIKE '%PGlite%' AS "isPGlite", ${NOT_SYNCED} AS "notSynced", array_remove(ARRAY[
      CASE WHEN current_setting('statement_timeout')::interval NOT BETWEEN '1ms' AND '${statementMs}ms'
        THEN 'statement_timeout' END,
      CASE WHEN current_setting('client_connection_check_interval')::interval
        NOT BETWEEN '1ms' AND '${CLIENT_CHECK_INTERVAL_MS}ms' THEN 'client_connection_check_interval' END,
      CASE WHEN current_setting('lock_timeout') <> '0' THEN 'lock_timeout' END,
      CASE WHEN current_setting('idle_session_timeout') <> '0' THEN 'idle_session_timeout' END,
      CASE WHEN current_setting('client_min_messages') = 'error' THEN 'client_min_messages' END
    ], NULL) AS unmet`;

const otherEngine = (message: string): string =>
  `it must be PostgreSQL 15 or later, and answers the first question by "${message.split('\n')[0]?.slice(0, 100)}"`;

interface Inspected
  extends Readonly<Record<'standby' | 'readOnly' | 'endsTransactions' | 'mayHideRows', boolean>> {
  readonly pid: number;
  readonly role: string;
  readonly notSynced: string | null;
  readonly isPGlite: boolean;
  readonly unmet: readonly (keyof ReturnType<typeof settingsFor>)[];
}

/** Throws {StoreNotWritable} where a server takes no writes, {ServerUnfit} when settings of the session do not hold. */
async function inspect(
  connection: PostgresConnection,
  requirements: ConnectionRequirements,
): Promise<Inspected> {
  const inspecting = connection.run<Inspected>(inspectionFor(requirements), requirements);
  const [found] = await inspecting.catch((error: unknown) => {
    throw isOfOtherEngine(error) ? new ServerUnfit(otherEngine(messageOf(error))) : error;
  });
  if (found === undefined) throw new Error('The server said nothing of itself');
  connection.endsTransactions = found.endsTransactions;
  connection.pooled = found.pid !== connection.processId;
  if (found.standby) throw new StoreNotWritable(STANDBY);
  if (found.readOnly) throw new StoreNotWritable('it is read-only');
  if (found.notSynced !== null) throw new ServerUnfit(found.notSynced);
  if (!requirements.strict || found.unmet.length === 0) return found;
  if (found.isPGlite) throw new ServerUnfit('it is PGlite, where roles have no settings: use PostgreSQL');
  const settings = settingsFor(requirements);
  const alter = found.unmet
    .map((name) => `ALTER ROLE ${found.role} SET ${name} = ${settings[name]}`)
    .join('; ');
  throw new ServerUnfit(`settings cannot be made through the pooler, so its role must bring them: ${alter}`);
}
