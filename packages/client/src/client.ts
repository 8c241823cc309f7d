/** A todo as the service answers with it. A todo of the error demo has no `categoryId`. */
export interface Todo {
  readonly id: number;
  readonly title: string;
  readonly done: boolean;
  readonly categoryId: number;
}

/** An entity tag of one todo. Any string is accepted, except the tag of the list. */
export type TodoTag = string & { readonly tagOf?: 'todo' };

/** The entity tag of the list: it shows whether the list has changed, and guards no change of a todo. */
export type ListTag = string & { readonly tagOf?: 'list' };

export type NewTodo = Omit<Todo, 'id' | 'done'>;

/** An omitted `done` is read as false. */
export type Replacement = NewTodo & Partial<Pick<Todo, 'done'>>;

export interface ClientOptions {
  /**
   * The address of the service: an absolute http or https URL, with a path when the service is mounted below one. In a
   * page, a path such as `/api` is enough.
   */
  readonly baseUrl: string;
  /**
   * An access token, or a function that gives one. The function is called for every attempt, once at a time. `refused`
   * asks for another token: the service did not accept the last one. When it gives none, nobody is logged in, and nothing
   * is sent. Without this option, as for the error demo, requests have no `Authorization`.
   */
  readonly token?: string | ((request: { readonly refused: boolean }) => MaybeToken | Promise<MaybeToken>);
  /** Repeats of a request, at most; 3 by default. */
  readonly retries?: number;
  /**
   * Milliseconds to wait before a repeat, at most; 60 000 by default. When the service asks for a longer wait, the
   * request is not repeated.
   */
  readonly maxWaitMs?: number;
  /** Bytes of the body of a success, at most; 256 MiB by default. A larger answer is a `TodoError`. */
  readonly maxAnswerBytes?: number;
}

type MaybeToken = string | null | undefined;

export type CallOptions = { readonly signal?: AbortSignal | undefined };

export interface WriteOptions extends CallOptions {
  /** The tag that the todo must still have. Otherwise nothing is changed, and the problem has the status 412. */
  readonly ifMatch?: TodoTag | undefined;
}

export interface CreateOptions extends CallOptions {
  /**
   * A key that makes repeats safe where every instance of the service knows `Idempotency-Key`: 1 to 128 characters, no
   * white space. `true` makes a random one, for the repeats of this call alone.
   */
  readonly idempotencyKey?: string | true | undefined;
}

/**
 * A client of the service. A method rejects with a `TodoProblem` for an error of the service, with a `TodoError` for any
 * other error or when nobody is logged in, and with the errors that `token` throws.
 */
export interface TodoClient {
  /** All todos, ordered by id ascending, and the tag of the list. An unchanged list is the same object as before. */
  list(options?: CallOptions): Promise<{ todos: readonly Todo[]; etag: ListTag | undefined }>;
  /** One todo and its tag. An unchanged todo is the same object as before. Status 404 when there is none. */
  get(id: number, options?: CallOptions): Promise<{ todo: Todo; etag: TodoTag | undefined }>;
  /** Creates a todo that is not done. Needs the role `editor`. Status 400 when the category is missing. */
  create(todo: NewTodo, options?: CreateOptions): Promise<{ todo: Todo; etag: TodoTag | undefined }>;
  /** Replaces title, category and `done`. Needs the role `editor`. Status 404, 400 or, with `ifMatch`, 412. */
  replace(id: number, todo: Replacement, options?: WriteOptions): Promise<void>;
  /** Deletes a todo. Needs the role `editor`. Status 404 or, with `ifMatch`, 412. */
  remove(id: number, options?: WriteOptions): Promise<void>;
  /** The name in the token; null when the token has none. */
  me(options?: CallOptions): Promise<{ readonly name: string | null }>;
  /** Completes a todo of the error demo. Status 409 when it is complete already. */
  complete(id: number, options?: CallOptions): Promise<Omit<Todo, 'categoryId'>>;
}

/** An answer that is no success, or no answer at all. */
export class TodoError extends Error {
  /** Undefined when there was no answer: `cause` has the reason. */
  readonly status: number | undefined;
  /** Whether the change may have been made nevertheless: read before you repeat it. Always false for reads. */
  readonly outcomeUnknown: boolean;
  /** Milliseconds after which the request may be repeated, when the answer says so. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, facts: ErrorFacts, cause?: unknown) {
    super(message, { cause });
    this.name = 'TodoError';
    this.status = facts.status;
    this.outcomeUnknown = facts.outcomeUnknown;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

type ErrorFacts = Pick<TodoError, 'status' | 'outcomeUnknown' | 'retryAfterMs'>;

/** An error of the service: Problem Details, RFC 9457. */
export class TodoProblem extends TodoError {
  /** The section of RFC 9110 for the status; undefined when that has none. */
  readonly type: string | undefined;
  /** Identical for the same kind of error. */
  readonly title: string;
  /** The particulars of this error. */
  readonly detail: string | undefined;
  /** Sentences for people, by member; only for a validation failure. */
  readonly errors: Readonly<Record<string, readonly string[]>> | undefined;
  /** The id of the request in the log of the service. */
  readonly traceId: string | undefined;
  /** The reason why the token was refused: `error_description` of `WWW-Authenticate` (RFC 6750 §3). */
  readonly errorDescription: string | undefined;

  constructor(problem: ProblemMembers, facts: ErrorFacts) {
    const reason = problem.detail ?? problem.errorDescription;
    super(`${facts.status} ${problem.title}${reason === undefined ? '' : `: ${reason}`}`, facts);
    this.name = 'TodoProblem';
    this.type = problem.type;
    this.title = problem.title;
    this.detail = problem.detail;
    this.errors = problem.errors;
    this.traceId = problem.traceId;
    this.errorDescription = problem.errorDescription;
  }
}

type ProblemMembers = Pick<
  TodoProblem,
  'type' | 'title' | 'detail' | 'errors' | 'traceId' | 'errorDescription'
>;

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Checks the body of a success; without it there must be none. */
  readonly expected?: (body: unknown) => boolean;
  /** The answer of an earlier read. */
  readonly known?: Answer | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the request may be sent again although its outcome is unknown. */
  readonly repeatable?: boolean;
  readonly signal?: AbortSignal | undefined;
}

type Answer = { readonly body: unknown; readonly etag: string | undefined };

/** Representations to compare with, at most; the one whose read is the oldest goes first. */
const MAX_KEPT = 1_000;

/** Milliseconds before the first repeat when the service gives no time; twice as many before each next one. */
const FIRST_WAIT_MS = 250;

/** Milliseconds that `setTimeout` can measure, at most. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Statuses that pass: the same request may succeed later. */
const PASSING: readonly (number | undefined)[] = [undefined, 408, 429, 502, 503, 504];

/** Bytes of an error's body. A larger one is no problem of the service. */
const MAX_PROBLEM_BYTES = 64 * 1024;

const RFC9110 = 'https://tools.ietf.org/html/rfc9110';

/**
 * Problems of the service that, with `Retry-After`, mean that nothing was changed, by status with their type. A gateway
 * in between uses the same statuses, without knowing the outcome of the request.
 */
const UNCHANGED = new Map<number | undefined, string | undefined>([
  [409, `${RFC9110}#section-15.5.10`],
  [429, undefined],
  [503, `${RFC9110}#section-15.6.4`],
]);

/**
 * A client of the service, for browsers and Node.js. A method rejects with the reason of `signal` when that is aborted.
 *
 * @throws {TypeError} when `baseUrl` is not an absolute http or https URL without a user, a query and a fragment, nor a
 * path in a page.
 */
export function createTodoClient(options: ClientOptions): TodoClient {
  const { retries = 3, maxWaitMs = 60_000, maxAnswerBytes = 256 * 1024 * 1024 } = options;
  /** The location of a page and its workers, where the browser keeps answers. */
  const page: unknown = Reflect.get(globalThis, 'location');
  const isPage = isObject(page);
  const base = baseOf(options.baseUrl, isPage ? page.origin : undefined);
  const tokenFor = tokensOf(options.token);
  const kept = new Map<string, Answer>();

  /** @param earlier Whether an attempt before this one may have made the change. */
  async function attempt(call: Call, bearer: string | undefined, earlier: boolean): Promise<Answer> {
    const { method, path, expected, known, body, headers: more, signal } = call;
    const headers = new Headers({ ...more, Accept: 'application/json, application/problem+json' });
    if (bearer !== undefined) headers.set('Authorization', `Bearer ${bearer}`);
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    // In a page the header would bypass the browser's cache, which asks with a tag by itself, and its memory of
    // preflights.
    if (known?.etag !== undefined && !isPage) headers.set('If-None-Match', known.etag);
    const sent: RequestInit = { method, headers, redirect: 'manual' };
    // Cloudflare Workers refuse the option.
    if ('credentials' in Request.prototype) sent.credentials = 'omit';
    if (body !== undefined) sent.body = JSON.stringify(body);
    if (signal !== undefined) sent.signal = signal;
    const facts = { status: undefined, outcomeUnknown: method !== 'GET', retryAfterMs: undefined };
    try {
      const response = await fetch(base + path, sent);
      const { ok, status } = response;
      const text = await textOf(response, ok ? maxAnswerBytes : MAX_PROBLEM_BYTES);
      if (known !== undefined && status === 304 && headers.has('If-None-Match')) return known;
      const fault = (what: string) => new TodoError(`${status}${what}`, { ...facts, status });
      // A login, for example. A browser tells nothing of a redirect that it does not follow.
      if (response.type === 'opaqueredirect' || (status >= 300 && status < 400))
        throw fault(' is a redirect, which the service never gives');
      if (!ok) throw errorOf(response, text, facts.outcomeUnknown, earlier);
      if (text === undefined) throw fault(`, and the answer has more than ${maxAnswerBytes} bytes`);
      const etag = response.headers.get('etag') ?? undefined;
      if (known !== undefined && known.etag === etag) return known;
      const json = expected && parse(text);
      if (!(expected?.(json) ?? text === '')) throw fault(' is no answer of the service');
      return { body: json, etag };
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof TodoError
        ? error
        : new TodoError(`${method} ${path} got no answer`, facts, error);
    }
  }

  async function send(call: Call): Promise<Answer> {
    const { signal } = call;
    let failed: TodoError | undefined;
    let mayRenew = typeof options.token === 'function';
    let refused: string | undefined;
    for (let repeats = 0; ; ) {
      const bearer = await unlessAborted(tokenFor(refused), signal).catch((error) => {
        signal?.throwIfAborted();
        // The failure of the attempt before has the outcome of the change.
        throw failed ?? error;
      });
      refused = undefined;
      try {
        return await attempt(call, bearer, failed?.outcomeUnknown ?? false);
      } catch (error) {
        if (!(error instanceof TodoError)) throw error;
        failed = error;
        if (error.status === 401 && mayRenew) {
          mayRenew = false;
          refused = bearer;
          continue;
        }
        const wait = waitAfter(error, call, repeats);
        if (wait === undefined || wait > Math.min(maxWaitMs, LONGEST_TIMER_MS) || !(repeats < retries))
          throw error;
        repeats += 1;
        await sleep(wait, signal);
      }
    }
  }

  async function read(
    path: string,
    expected: (body: unknown) => boolean,
    { signal }: CallOptions = {},
  ): Promise<Answer> {
    const call: Call = { method: 'GET', path, expected, known: kept.get(path), repeatable: true, signal };
    const answer = await send(call);
    kept.delete(path);
    if (answer.etag !== undefined) kept.set(path, answer);
    const [oldest = ''] = kept.keys();
    if (kept.size > MAX_KEPT) kept.delete(oldest);
    return answer;
  }

  async function write(call: Call, { ifMatch, signal }: WriteOptions = {}): Promise<void> {
    await send({ ...call, signal, headers: ifMatch === undefined ? {} : { 'If-Match': ifMatch } });
  }

  return {
    async list(options) {
      const { body, etag } = await read('/todos', areTodos, options);
      return { todos: body as readonly Todo[], etag };
    },
    async get(id, options) {
      const { body, etag } = await read(`/todos/${id}`, isTodo, options);
      return { todo: body as Todo, etag };
    },
    async create(todo, { idempotencyKey, signal } = {}) {
      const key = idempotencyKey === true ? randomKey() : idempotencyKey;
      const keyed = key === undefined ? {} : { headers: { 'Idempotency-Key': key }, repeatable: true };
      const call: Call = { method: 'POST', path: '/todos', expected: isTodo, body: todo, signal };
      const { body, etag } = await send({ ...call, ...keyed });
      return { todo: body as Todo, etag };
    },
    replace: (id, todo, options) => write({ method: 'PUT', path: `/todos/${id}`, body: todo }, options),
    remove: (id, options) => write({ method: 'DELETE', path: `/todos/${id}` }, options),
    me: async (options) => (await read('/me', isIdentity, options)).body as { readonly name: string | null },
    complete: async (id, { signal } = {}) =>
      (await send({ method: 'POST', path: `/todos/${id}/complete`, expected: isTodo, signal })).body as Todo,
  };
}

/**
 * The URL as it was parsed, without white space around it and the final slash. A user and a password are not quoted.
 *
 * @param origin of the page, for a path.
 */
function baseOf(baseUrl: string, origin: unknown): string {
  const below = baseUrl.startsWith('/') && typeof origin === 'string' ? origin : undefined;
  const url = URL.canParse(baseUrl, below) ? new URL(baseUrl, below) : undefined;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (!isHttp || url.username !== '' || url.password !== '' || /[?#]/.test(baseUrl)) {
    const received = baseUrl.includes('@') ? '' : `, received ${JSON.stringify(baseUrl)}`;
    throw new TypeError(
      `baseUrl must be an absolute http or https URL without a user, a query and a fragment${received}`,
    );
  }
  return url.href.endsWith('/') ? url.href.slice(0, -1) : url.href;
}

/**
 * Gives the token for an attempt. One token is asked for at a time, however many calls wait for it: two renewals at once
 * would end a refresh token that may be used once.
 */
function tokensOf(token: ClientOptions['token']): (refused?: string) => Promise<string | undefined> {
  let newest: string | undefined;
  let asking: Promise<string> | undefined;
  let isRenewal = false;
  return async (refused) => {
    if (token === undefined) return undefined;
    if (typeof token !== 'function') return tokenIn(token);
    if (refused !== undefined) {
      // A failed renewal fails for all calls that wait for it.
      while (asking !== undefined) await (isRenewal ? asking : asking.catch(() => {}));
      if (newest !== refused) return newest;
    }
    if (asking === undefined) {
      isRenewal = refused !== undefined;
      asking = (async () => {
        newest = tokenIn(await token({ refused: isRenewal }));
        return newest;
      })().finally(() => {
        asking = undefined;
      });
    }
    return asking;
  };
}

/**
 * The token in a value.
 *
 * @throws {TodoError} when there is none.
 * @throws {TypeError} when it cannot be sent.
 */
function tokenIn(value: unknown): string {
  if (value === undefined || value === null || (typeof value === 'string' && value.trim() === '')) {
    const facts = { status: undefined, outcomeUnknown: false, retryAfterMs: undefined };
    throw new TodoError('Nobody is logged in: there is no token', facts);
  }
  if (typeof value !== 'string')
    throw new TypeError(`The token must be a string, received the type ${typeof value}`);
  try {
    new Headers().set('Authorization', `Bearer ${value}`);
  } catch {
    // The error of `Headers` itself would quote the token.
    throw new TypeError('The token has a character that no header may have');
  }
  return value;
}

/** The body of an answer; undefined when it has more than `limit` bytes. The rest is not read then. */
async function textOf({ body }: Response, limit: number): Promise<string | undefined> {
  const reader = body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  for (let bytes = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return pieces.join('') + decoder.decode();
    bytes += value.byteLength;
    if (bytes > limit) {
      reader.cancel().catch(() => {});
      return undefined;
    }
    pieces.push(decoder.decode(value, { stream: true }));
  }
}

/** Milliseconds until the request may be repeated; undefined when it must not be. */
function waitAfter(error: TodoError, { repeatable }: Call, repeats: number): number | undefined {
  if (error instanceof TodoProblem && saysUnchanged(error, error)) return error.retryAfterMs;
  if (repeatable !== true || !PASSING.includes(error.status)) return undefined;
  return error.retryAfterMs ?? FIRST_WAIT_MS * 2 ** repeats * (0.5 + Math.random());
}

/** The error of an answer: a problem of the service, or the text of a proxy in between. */
function errorOf({ status, headers }: Response, text = '', isWrite: boolean, earlier: boolean): TodoError {
  const type = headers.get('content-type') ?? '';
  const problem = /^application\/problem\+json\b/i.test(type) ? problemIn(text, headers) : undefined;
  const retryAfterMs = waitOf(headers.get('retry-after'));
  const isRefusal = status >= 400 && status < 500;
  const isUnchanged =
    isRefusal || (problem !== undefined && saysUnchanged(problem, { status, retryAfterMs }));
  const outcomeUnknown = earlier || (isWrite && !isUnchanged);
  const facts = { status, outcomeUnknown, retryAfterMs };
  if (problem === undefined) return new TodoError(`${status} ${text.slice(0, 200)}`.trimEnd(), facts);
  return new TodoProblem(problem, facts);
}

function saysUnchanged(
  { type }: Pick<TodoProblem, 'type'>,
  { status, retryAfterMs }: Pick<TodoError, 'status' | 'retryAfterMs'>,
): boolean {
  return retryAfterMs !== undefined && UNCHANGED.has(status) && UNCHANGED.get(status) === type;
}

/** The members of a problem; the service gives every problem a title. Members of a wrong type are left out. */
function problemIn(text: string, headers: Headers): ProblemMembers | undefined {
  const json = parse(text);
  if (!isObject(json) || typeof json.title !== 'string') return undefined;
  const { type, title, detail, errors, traceId } = json;
  const [, errorDescription] =
    /error_description="([^"\\]*)"/.exec(headers.get('www-authenticate') ?? '') ?? [];
  return {
    type: typeof type === 'string' ? type : undefined,
    title,
    detail: typeof detail === 'string' ? detail : undefined,
    errors: areErrors(errors) ? errors : undefined,
    traceId: typeof traceId === 'string' ? traceId : undefined,
    errorDescription,
  };
}

function areErrors(value: unknown): value is Record<string, readonly string[]> {
  return isObject(value) && Object.values(value).every(areStrings);
}

function areStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

/** Whether a value is a todo. Members of a later service are no fault. The todo of the error demo has no category. */
function isTodo(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { id, title, done, categoryId = 0 } = value;
  const isNumbered = typeof id === 'number' && typeof categoryId === 'number';
  return isNumbered && typeof title === 'string' && typeof done === 'boolean';
}

function areTodos(value: unknown): boolean {
  return Array.isArray(value) && value.every(isTodo);
}

function isIdentity(value: unknown): boolean {
  return isObject(value) && (value.name === null || typeof value.name === 'string');
}

/** Whether a value is an object; an array is one too. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The value of a JSON text; undefined when it is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Milliseconds of a `Retry-After`, RFC 9110 §10.2.3: seconds, or a date. `Date.parse` would also take `-5` for a date.
 */
function waitOf(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const wait = / GMT$/.test(value) ? Date.parse(value) - Date.now() : Number.NaN;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await unlessAborted(over, signal).finally(() => clearTimeout(timer));
}

/** The value of `result`, or a rejection with the signal's reason when that is aborted first. */
function unlessAborted<T>(result: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    Promise.resolve(result)
      .finally(() => signal?.removeEventListener('abort', abort))
      .then(resolve, reject);
  });
}

/** 128 random bits; `crypto.randomUUID` is missing where a page came over plain HTTP. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
