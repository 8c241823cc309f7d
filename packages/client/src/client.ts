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
   * An access token, or a function that gives one. The function is called for every attempt, once at a time, and anew
   * when all calls that waited for it were aborted. `refused` asks for another token: the service did not accept the last
   * one. When it gives none, nobody is logged in, and nothing is sent. Without this option, as for the error demo,
   * requests have no `Authorization`.
   */
  readonly token?: string | ((request: { readonly refused: boolean }) => MaybeToken | Promise<MaybeToken>);
  /** Repeats of a request, at most; 3 by default. */
  readonly retries?: number;
  /**
   * Milliseconds to wait before a repeat, at most; 60 000 by default. When the service asks for a longer wait, the
   * request is not repeated. With 0 or less, it is repeated only when the service asks for no wait, `Retry-After: 0`.
   */
  readonly maxWaitMs?: number;
  /** Bytes of the body of a success, at most; 256 MiB by default. A larger answer is a `TodoError`. */
  readonly maxAnswerBytes?: number;
  /**
   * The option `cache` of `fetch`. By default `'no-store'`, so that a framework on a server answers nothing out of its
   * own cache, and in a page `'default'`, which leaves the option out.
   */
  readonly cache?: 'default' | 'no-store';
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
 * other error or when nobody is logged in, and with the errors that `token` throws. Todos and lists are frozen.
 */
export interface TodoClient {
  /** All todos, ordered by id ascending, and the tag of the list. An unchanged list is the same object as before. */
  list(options?: CallOptions): Promise<{ todos: readonly Todo[]; etag: ListTag | undefined }>;
  /** One todo and its tag. An unchanged todo is the same object as before. Status 404 when there is none. */
  get(id: number, options?: CallOptions): Promise<{ todo: Todo; etag: TodoTag | undefined }>;
  /** Creates a todo that is not done. Needs the role `editor`. Status 400 when the category is missing. */
  create(todo: NewTodo, options?: CreateOptions): Promise<{ todo: Todo; etag: TodoTag | undefined }>;
  /** Replaces every member but the id. Needs the role `editor`. Status 404, 400 or, with `ifMatch`, 412. */
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
    super(message);
    // Older engines do not know the option `cause` of an error.
    if (cause !== undefined)
      Object.defineProperty(this, 'cause', { value: cause, writable: true, configurable: true });
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

/** Milliseconds before the first repeat, at most, when the service gives no time; twice as many before each next one. */
const FIRST_WAIT_MS = 250;

/** Milliseconds for which a renewal that nobody waits for may still be answered. */
const RENEWAL_KEPT_MS = 30_000;

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
  const { retries = 3, maxAnswerBytes = 256 * 1024 * 1024 } = options;
  const maxWaitMs = waitIn(options.maxWaitMs);
  /** The location of a page and its workers, where the browser keeps answers. */
  const page: unknown = Reflect.get(globalThis, 'location');
  const isPage = isObject(page);
  const cache = options.cache ?? (isPage ? 'default' : 'no-store');
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
    // Cloudflare Workers refuse an option that they do not know.
    if ('credentials' in Request.prototype) sent.credentials = 'omit';
    if (cache !== 'default' && 'cache' in Request.prototype) sent.cache = cache;
    if (body !== undefined) sent.body = JSON.stringify(body);
    if (signal !== undefined) sent.signal = signal;
    // Next.js would answer a repeat of a read without a signal out of its memory.
    else if (!isPage) sent.signal = new AbortController().signal;
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
      return { body: frozen(json), etag };
    } catch (error) {
      throwIfAborted(signal);
      throw error instanceof TodoError || isSteering(error)
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
      const bearer = await tokenFor(refused, signal).catch((error) => {
        throwIfAborted(signal);
        // The failure of the attempt before has the outcome of the change.
        throw isSteering(error) ? error : (failed ?? error);
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
        const wait = waitAfter(error, call, repeats, maxWaitMs);
        if (wait === undefined || !(repeats < retries)) throw error;
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
  const url = parsed(() => new URL(baseUrl, below));
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (!isHttp || url.username !== '' || url.password !== '' || /[?#]/.test(baseUrl)) {
    const received = baseUrl.includes('@') ? '' : `, received ${JSON.stringify(baseUrl)}`;
    throw new TypeError(
      `baseUrl must be an absolute http or https URL without a user, a query and a fragment${received}`,
    );
  }
  return url.href.endsWith('/') ? url.href.slice(0, -1) : url.href;
}

/** A call of the function `token`. */
interface Question {
  readonly isRenewal: boolean;
  readonly answer: Promise<string>;
  /** Calls that wait for the answer. */
  waiting: number;
  /** The time in milliseconds at which the last of them was aborted. */
  leftAt: number;
}

/**
 * Gives the token for an attempt. One question is under way at a time, however many calls wait for it: two renewals at
 * once would end a refresh token that may be used once. An answer may never come, so a question that all have left is
 * forgotten, a renewal 30 s later. The answer of a forgotten question changes nothing.
 */
function tokensOf(
  token: ClientOptions['token'],
): (refused: string | undefined, signal: AbortSignal | undefined) => Promise<string | undefined> {
  if (typeof token !== 'function') return async () => (token === undefined ? token : tokenIn(token));
  let newest: string | undefined;
  let last: Question | undefined;

  function underWay(): Question | undefined {
    if (last === undefined || last.waiting > 0) return last;
    return last.isRenewal && Date.now() - last.leftAt < RENEWAL_KEPT_MS ? last : undefined;
  }

  const ask = (isRenewal: boolean): Question => {
    const answer = (async () => tokenIn(await token({ refused: isRenewal })))()
      .then((value) => {
        if (underWay() === question) newest = value;
        return value;
      })
      .finally(() => {
        if (last === question) last = undefined;
      });
    const question: Question = { isRenewal, answer, waiting: 0, leftAt: 0 };
    last = question;
    return question;
  };

  function answerOf(question: Question, signal: AbortSignal | undefined): Promise<string> {
    question.waiting += 1;
    return unlessAborted(question.answer, signal, () => {
      question.waiting -= 1;
      question.leftAt = Date.now();
    });
  }

  return async (refused, signal) => {
    throwIfAborted(signal);
    if (refused === undefined) return answerOf(underWay() ?? ask(false), signal);
    for (let other = underWay(); other !== undefined; other = underWay()) {
      const answer = answerOf(other, signal);
      // A failed renewal fails for all calls that wait for it.
      if (other.isRenewal) return answer;
      await answer.catch(() => {});
      throwIfAborted(signal);
    }
    return newest === refused ? answerOf(ask(true), signal) : newest;
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
async function textOf(response: Response, limit: number): Promise<string | undefined> {
  const { body } = response;
  if (body === null) return '';
  // React Native has no body, and node-fetch a stream of Node.js.
  if (typeof body?.getReader !== 'function') {
    const text = await response.text();
    return new TextEncoder().encode(text).byteLength > limit ? undefined : text;
  }
  const reader = body.getReader();
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

/** Milliseconds in an option `maxWaitMs`. */
function waitIn(maxWaitMs: unknown): number {
  if (typeof maxWaitMs !== 'number' || Number.isNaN(maxWaitMs)) return 60_000;
  return Math.min(Math.max(0, maxWaitMs), LONGEST_TIMER_MS);
}

/** Milliseconds until the request may be repeated; undefined when it must not be. */
function waitAfter(
  error: TodoError,
  { repeatable }: Call,
  repeats: number,
  maxWaitMs: number,
): number | undefined {
  const { status, retryAfterMs } = error;
  const isUnchanged = error instanceof TodoProblem && saysUnchanged(error, error);
  if (!isUnchanged && !(repeatable === true && PASSING.includes(status))) return undefined;
  if (retryAfterMs !== undefined) return retryAfterMs <= maxWaitMs ? retryAfterMs : undefined;
  const longest = Math.min(maxWaitMs, FIRST_WAIT_MS * 2 ** repeats);
  return longest > 0 ? longest * (0.5 + Math.random() / 2) : undefined;
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

/** Freezes a value of JSON to its depth: it is handed out again while it is unchanged. */
function frozen(json: unknown): unknown {
  const found = [json];
  for (const value of found) {
    if (!isObject(value)) continue;
    for (const member of Object.values(Object.freeze(value))) if (isObject(member)) found.push(member);
  }
  return json;
}

/** Whether Next.js steers by an error: a redirect, or a page that cannot be made before it is asked for. */
function isSteering(error: unknown): boolean {
  if (!isObject(error)) return false;
  // At `output: 'export'` there is no digest.
  return typeof error.digest === 'string' || error.code === 'NEXT_STATIC_GEN_BAILOUT';
}

/** The value of a JSON text; undefined when it is not JSON. */
function parse(text: string): unknown {
  return parsed(() => JSON.parse(text));
}

/** What a parser makes of its text; undefined when it throws. `URL.canParse` is missing in older engines. */
function parsed<T>(parser: () => T): T | undefined {
  try {
    return parser();
  } catch {
    return undefined;
  }
}

/**
 * Milliseconds of a `Retry-After`, RFC 9110 §10.2.3: seconds, or a date, of which one form has no zone (§5.6.7).
 * `Date.parse` would also take `-5` for a date. Node.js keeps white space behind a value.
 */
function waitOf(value: string | null): number | undefined {
  const after = value?.trim().replace(/:\d\d \d{4}$/, '$& GMT') ?? '';
  if (/^\d+$/.test(after)) return Number(after) * 1_000;
  const wait = / GMT$/.test(after) ? Date.parse(after) - Date.now() : Number.NaN;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

async function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await unlessAborted(over, signal).finally(() => clearTimeout(timer));
}

/**
 * The value of `result`, or a rejection with the signal's reason when that is aborted first.
 *
 * @param leave Called at an abort.
 */
function unlessAborted<T>(
  result: Promise<T>,
  signal: AbortSignal | undefined,
  leave?: () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      leave?.();
      reject(reasonOf(signal));
    };
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    result.finally(() => signal?.removeEventListener('abort', abort)).then(resolve, reject);
  });
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw reasonOf(signal);
}

/** The reason of an aborted signal. Older engines and the package `abort-controller` give none. */
function reasonOf(signal: AbortSignal | undefined): unknown {
  if (signal?.reason !== undefined) return signal.reason;
  return Object.assign(new Error('The call was aborted'), { name: 'AbortError' });
}

/**
 * 128 random bits; `crypto.randomUUID` is missing where a page came over plain HTTP.
 *
 * @throws {TypeError} when the engine has no source of them, as React Native.
 */
function randomKey(): string {
  if (typeof globalThis.crypto?.getRandomValues !== 'function')
    throw new TypeError('idempotencyKey must be a string here: this engine has no crypto.getRandomValues');
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
