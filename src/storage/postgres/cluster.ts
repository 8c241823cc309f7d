import { Client } from 'pg';
import { messageOf } from '../../lib/errors.ts';
import { StoreNotWritable } from '../../todos/store.ts';
import type { Address, Host } from './address.ts';
import { checkLogged, NOT_SYNCED } from './durability.ts';
import {
  type HostFailure,
  hasCode,
  INVALID_PASSWORD,
  isProtocolViolation,
  NoServer,
  ServerUnfit,
} from './error.ts';
import { ServerConnection } from './server-connection.ts';

/** Milliseconds that a server has before the next of a list is tried as well. */
const NEXT_HOST_MS = 250;

/** Milliseconds without traffic after which the kernel asks whether the other side still lives. */
const KEEP_ALIVE_DELAY_MS = 10_000;

/** Milliseconds after which a server that works on a statement asks, again and again, whether its client is still there. */
const CLIENT_CHECK_INTERVAL_MS = 2_000;

/** What a connection is opened for. */
export interface ConnectionRequirements {
  /** Milliseconds after which the server gives up a statement. */
  readonly statementMs: number;
  /** Whether the server must keep its settings for every statement, a pooler between or not. */
  readonly strict: boolean;
  /** Whether it is to change tables: none may be one that a crash of the server empties. */
  readonly writes?: boolean;
  /** Milliseconds to connect, log in and inspect. */
  readonly withinMs: number;
}

/** Called before a connection is opened. What it throws is why there must be none. */
type Hold = (connection: ServerConnection) => void;

/** The servers that a connection string names, of which one at a time takes writes. */
export class Cluster {
  readonly address: Address;
  /** Row security may hide rows without an error: a pooler has dropped the setting against that, and its next session may lack it. */
  mayHideRows = false;
  readonly #prepare: boolean;
  /** Tried first: the last one that would do. */
  #first: Host | undefined;
  #pooled = false;
  #retiredAt = 0;

  /** @param prepare False: no statement is prepared by name. */
  constructor(address: Address, prepare = true) {
    this.address = address;
    this.#prepare = prepare;
  }

  /** Every connection that is open now serves no longer: its server may have lost its role. */
  retire(): void {
    this.#retiredAt = performance.now();
  }

  isRetired(connection: ServerConnection): boolean {
    return connection.openedAt <= this.#retiredAt;
  }

  /**
   * A connection to a server that takes writes. A server that does not answer soon does not keep the others waiting.
   *
   * @throws {NoServer} when none will do.
   */
  open(requirements: ConnectionRequirements, hold: Hold = () => {}): Promise<ServerConnection> {
    const first = this.#first;
    const hosts = this.address.hosts.toSorted((a, b) => Number(b === first) - Number(a === first));
    const failures: HostFailure[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<ServerConnection>();
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

  /**
   * @param bare Without settings in the startup packet, which a pooler may refuse.
   * @param renewed The password was refused, and has changed since.
   */
  async #connect(
    host: Host,
    requirements: ConnectionRequirements,
    hold: Hold,
    bare: boolean,
    renewed = false,
  ): Promise<ServerConnection> {
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
      options: [config.options ?? '', ...settings].join(' ').trim(),
      connectionTimeoutMillis: requirements.withinMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    });
    const connection = new ServerConnection(client, host, config);
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

/** What a session is to be like, with values as SQL writes them. */
function settingsFor({ statementMs }: ConnectionRequirements) {
  return {
    statement_timeout: `'${statementMs}ms'`,
    client_connection_check_interval: `'${CLIENT_CHECK_INTERVAL_MS}ms'`,
    idle_session_timeout: '0',
    client_min_messages: 'warning',
    // A connection without it is taken: see `mayHideRows`.
    row_security: 'off',
  };
}

/** Contract D14. A balancer may give the process id of any of its servers, so nothing tells whether there is one. */
const STANDBY =
  'reads go to a standby, which takes no writes: if a load balancer stands between, switch its load balancing off';

/** What a connection is, in one row. A balancer takes it for the plain reads for which it stands: no function is volatile. `unmet` are those of the settings that what is in force will not do for. */
const inspectionFor = ({ statementMs }: ConnectionRequirements): string => `
  SELECT pg_backend_pid() AS pid, quote_ident(current_user) AS role, current_setting('in_hot_standby') = 'on' AS standby,
    current_setting('transaction_read_only') = 'on' AS "readOnly",
    current_setting('transaction_timeout', true) IS NOT NULL AS "endsTransactions",
    current_setting('row_security') = 'on' AS "mayHideRows", ${NOT_SYNCED} AS "notSynced", array_remove(ARRAY[
      CASE WHEN current_setting('statement_timeout')::interval NOT BETWEEN '1ms' AND '${statementMs}ms'
        THEN 'statement_timeout' END,
      CASE WHEN current_setting('client_connection_check_interval')::interval
        NOT BETWEEN '1ms' AND '${CLIENT_CHECK_INTERVAL_MS}ms' THEN 'client_connection_check_interval' END,
      CASE WHEN current_setting('idle_session_timeout') <> '0' THEN 'idle_session_timeout' END,
      CASE WHEN current_setting('client_min_messages') = 'error' THEN 'client_min_messages' END
    ], NULL) AS unmet`;

interface Inspected {
  readonly pid: number;
  readonly role: string;
  readonly standby: boolean;
  readonly readOnly: boolean;
  readonly endsTransactions: boolean;
  readonly mayHideRows: boolean;
  readonly notSynced: string | null;
  readonly unmet: readonly (keyof ReturnType<typeof settingsFor>)[];
}

/**
 * Looks whether the server takes writes, and whether the settings of the session hold.
 *
 * @throws {StoreNotWritable} when it takes none, for now; {ServerUnfit} when the settings do not hold.
 */
async function inspect(
  connection: ServerConnection,
  requirements: ConnectionRequirements,
): Promise<Inspected> {
  const [found] = await connection.run<Inspected>(inspectionFor(requirements), requirements);
  if (found === undefined) throw new Error('The server said nothing of itself');
  connection.endsTransactions = found.endsTransactions;
  connection.pooled = found.pid !== connection.processId;
  if (found.standby) throw new StoreNotWritable(STANDBY);
  if (found.readOnly) throw new StoreNotWritable('it is read-only');
  if (found.notSynced !== null) throw new ServerUnfit(found.notSynced);
  if (!requirements.strict || found.unmet.length === 0) return found;
  const settings = settingsFor(requirements);
  const alter = found.unmet
    .map((name) => `ALTER ROLE ${found.role} SET ${name} = ${settings[name]}`)
    .join('; ');
  throw new ServerUnfit(`settings cannot be made through the pooler, so its role must bring them: ${alter}`);
}
