import type { Level } from 'pino';

/** A kind of event: its level in the log, and its message for people, with `{field}` where a field stands. */
interface Kind<Fields> {
  readonly level: Level;
  readonly message: string;
  /** The type of an event's members in its line, which are an interface (docs/logging.md). */
  readonly fields?: Fields;
  /** Of what strangers can repeat: the members that are its reason. Each reason has one line a minute, others are debug. */
  readonly reason?: readonly (keyof Fields)[];
}

const at =
  (level: Level) =>
  <Fields = unknown>(message: string): Kind<Fields> => ({ level, message });
const refused = <Fields>(message: string, ...reason: readonly (keyof Fields)[]): Kind<Fields> => ({
  level: 'info',
  message,
  reason,
});
const [debug, info, warn, error, fatal] = [at('debug'), at('info'), at('warn'), at('error'), at('fatal')];

type Text = string | null | undefined;
type OfTodo = { id: number; subject: Text; name: Text; traceId: string };
type OfWrite = { method: string; id: number | undefined; subject: Text; name: Text; traceId: string };

/** The events of the log, as docs/logging.md lists them. */
export const EVENTS = {
  waiting: info<{ owner: string }>('waiting for the database file, which another process serves'),
  'schema-migrated': info<{ from: number; to: number }>('brought the schema from version {from} to {to}'),
  'schema-newer': info<{ version: number; own: number }>(
    'the schema is of version {version}, which a newer program made; it may be used by this one, of version {own}',
  ),
  started: info<{
    url: string;
    portFrom: Text;
    adminUrl: Text;
    profile: string;
    environment: string;
    database: Text;
    keys: Text;
    traces: Text;
  }>('started'),
  stopping: info<{ reason: string }>('stopping'),
  stopped: info('stopped'),
  'start-stopped': info<{ reason: string }>('stopped during the start'),
  'stopped-at-once': warn<{ reason: string }>('stopped at once by a second signal'),
  'stop-failed': error<{ milliseconds: number }>('stopped without closing everything'),
  uncaught: fatal<{ reason: string; err: unknown }>('uncaught exception'),
  stalled: warn<{ milliseconds: number }>(
    'the process did nothing for {milliseconds} ms: it was stopped, swapped out or throttled, or one piece of work took as ' +
      'long',
  ),
  crash: error<{ traceId: string; method: string; route: Text; err: unknown }>('unhandled exception'),
  'answer-not-written': error<{ traceId: Text; err: unknown }>('an answer could not be written'),
  'todo-created': info<OfTodo>('a todo was created'),
  'todo-replaced': info<OfTodo>('a todo was replaced'),
  'todo-deleted': info<OfTodo>('a todo was deleted'),
  'todo-completed': info<{ id: number; traceId: string }>('a todo was completed'),
  'todo-outcome-unknown': info<OfWrite>('a change may have been made: its outcome is unknown'),
  'todo-write-refused': info<OfWrite>('a write was refused, because the caller lacks the role'),
  'store-unavailable': warn<{ traceId: string; reason: string }>(
    'the database failed, and nothing was changed',
  ),
  'outcome-unknown': warn<{ traceId: string; reason: string }>('a commit failed, and may have been made'),
  'database-gone': error<{ reason: string; path: string }>(
    'the database file was deleted, moved or replaced. Put it back with the files beside it, or restore a backup, and ' +
      'restart',
  ),
  'database-damaged': error<{ reason: string; path: string }>(
    'the database file is damaged, or its disk did not read it. It is used again only after a restart. Run "todo-service ' +
      'check"',
  ),
  'database-unseen': warn<{ reason: string; path: string }>(
    'the system does not say whether the database file is still there: reads go on, and writes are refused',
  ),
  'database-seen': info<{ path: string }>('the database file was found again: writes go on'),
  'schema-broken': error<{ reason: string }>('the database lacks something that is needed'),
  'schema-mended': info('the missing part of the database is there again'),
  'schema-refuses': error<{ reason: string }>(
    'the database refuses what the service may write, by a part of the schema that "todo-service check" names',
  ),
  'purge-failed': warn<{ reason: string }>('tombstones of deleted todos cannot be purged, and become more'),
  'purge-mended': info('tombstones of deleted todos are purged again'),
  'locks-uncertain': warn<{ fileSystem: string; path: string }>(
    'the database file is on {fileSystem}, where locks may not hold: nothing keeps a second process, in another container ' +
      'or on another machine, from writing it too. Use a local disk',
  ),
  'log-moved': warn<{ path: string }>(
    'the log of a deleted database was beside the new one: it was renamed, and nothing reads it',
  ),
  'log-found': warn<{ path: string; bytes: number; modified: string }>(
    'the log "{path}", of {bytes} bytes, last written at {modified}, was left by a process that was killed, or by a ' +
      'program that had the file open: SQLite brings what is complete in it into the database',
  ),
  'connection-lost': warn<{ reason: string }>('an idle database connection ended'),
  request: debug<{ method: string; route: Text; status: number; milliseconds: number; traceId: string }>(
    'request',
  ),
  'request-refused': refused<{
    status: number;
    reason: Text;
    method?: string;
    route?: Text;
    traceId: string;
  }>('request refused', 'status', 'reason', 'route'),
  'preflight-refused': refused<{ origin: string }>(
    'a page was refused: TODO_CORS_ORIGINS does not have its origin',
    'origin',
  ),
  'token-refused': refused<{ code: string; kid: Text; claim: Text; traceId: string }>(
    'token refused',
    'code',
    'claim',
  ),
  'keys-loaded': info<{ source: string; kids: readonly Text[]; keys: number }>('keys loaded'),
  'keys-unavailable': warn<{ source: string; reason: string }>('still no keys'),
  'keys-available': info<{ source: string }>('keys from {source} again'),
  'unknown-variable': warn<{ name: string; nearest: Text }>('nothing reads the variable "{name}"'),
  'secret-file-readable': warn<{ path: string }>(
    'every user of this machine may read the secret file "{path}": chmod 600 or 640 stops that',
  ),
  'certificates-unchecked': warn(
    'NODE_TLS_REJECT_UNAUTHORIZED=0: whoever is on the way to the issuer can give keys of their own. Unset it, and name a ' +
      'private CA in NODE_EXTRA_CA_CERTS',
  ),
  'key-skipped': warn<{ source: string }>('key skipped'),
  ready: info('ready again'),
  'not-ready': warn<{ reason: string }>('not ready: {reason}'),
  'connections-full': warn<{ listener: string }>(
    'the listener has reached its limit of connections: further ones are closed at once',
  ),
  'connections-reduced': warn<{ wanted: number; taken: number }>(
    'the limit of open files ("ulimit -n", LimitNOFILE) does not suffice for TODO_MAX_CONNECTIONS: fewer are taken',
  ),
  'connections-free': info<{ listener: string; refused: number }>('no connection was refused for a minute'),
  'no-reference-page': warn(
    'there is no reference page: install @scalar/fastify-api-reference, in a checkout by "npm ci --include=dev"',
  ),
  'traces-not-sent': warn<{ reason: Text; spans: number }>('spans of traces are lost'),
  'traces-lost': warn<{ spans: number }>('{spans} spans of traces were lost in all'),
  'log-lines-dropped': warn<{ dropped: number }>('log lines were dropped'),
};

type Kinds = typeof EVENTS;
type FieldsOf<K> = K extends Kind<infer Fields> ? Fields : never;

export type Event = {
  [Name in keyof Kinds]: { readonly event: Name } & Readonly<FieldsOf<Kinds[Name]>>;
}[keyof Kinds];

/** Writes an event, with `said` in place of the members of its kind. No decision depends on it. */
export type LogEvent = (
  event: Event,
  said?: { readonly level?: Level; readonly message?: string | undefined },
) => void;

/** A commit that put a batch of writes on disk: `writes` of them changed something. Times as of a step. */
export type Commit = { readonly from: number; readonly until: number; readonly writes: number };

/** A step of a request that has ended. Times are those of `performance.now()`. */
export type Step = { readonly from: number; readonly until: number; readonly error?: unknown } & (
  | {
      readonly name: 'authenticate' | 'list' | 'find' | 'add' | 'replace' | 'remove';
      readonly code?: string | undefined;
    }
  | ({ readonly name: 'commit' } & Commit)
);

/** Notes a step as soon as it has ended, which may be after its client has left. No decision depends on it. */
export type OnStep = (step: Step) => void;
