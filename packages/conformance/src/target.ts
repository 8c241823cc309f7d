import assert from 'node:assert/strict';
import { exchange, header, json, type Reply } from './http.ts';
import type { OpenApi } from './open-api.ts';
import { assertProblem, type Expected, holdsToContract } from './problem.ts';
import type { Sign } from './sign.ts';

interface AnyTarget {
  /** The base URL, with a path when the service is mounted below one. */
  readonly baseUrl: URL;
  /** Undefined when unknown: checks of one environment alone are left out then. */
  readonly environment: 'development' | 'production' | undefined;
  /** Whether the service was started for these checks alone; any other must be left as it was found. */
  readonly fresh: boolean;
  /** The whole log of the service so far. */
  readonly log?: () => string;
  /** Every exchange so far, for the rules of every response. */
  readonly seen: Exchange[];
  /** Paths of the todos made and not yet deleted. */
  readonly created: Set<string>;
  /** Asserts that the service's OpenAPI document describes every one of these exchanges with its operations. */
  readonly assertDescribed?: (document: OpenApi, exchanges: readonly Exchange[]) => void;
}

/** A service of profile A. */
export interface SharedList extends AnyTarget {
  readonly profile: 'shared-list';
  readonly tokens: { readonly editor: string; readonly reader: string };
  /** Makes tokens that the service's configuration accepts, and others. The tolerance is that of an issuer: 30 s. */
  readonly sign?: Sign;
  /** Makes a token that the service accepts, as its developer tool does (contract Authentication 9). */
  readonly makeToken?: (name: string, role?: string) => Promise<string>;
}

/** A service of profile B. */
export interface ErrorDemo extends AnyTarget {
  readonly profile: 'error-demo';
}

export type Target = SharedList | ErrorDemo;

export interface Exchange {
  readonly method: string;
  /** The request target as sent, without the base URL's own path. */
  readonly path: string;
  readonly reply: Reply;
}

export interface Request {
  readonly token?: string;
  readonly accept?: string;
  /** Header lines; a list gives several lines of one name. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A value that is sent as `application/json`. */
  readonly json?: unknown;
  /** Bytes that are sent as they are, as `application/json` unless `type` says otherwise. */
  readonly body?: string | Buffer;
  /** `Content-Type`; null for none. */
  readonly type?: string | null;
  /** The bytes behind the head when the test frames the body itself, in chunks for example. */
  readonly framed?: string | Buffer;
}

/**
 * One request on a connection of its own. The request target goes out exactly as written here.
 *
 * @param line for example `GET /todos/%35`.
 */
export async function send(target: Target, line: string, request: Request = {}): Promise<Reply> {
  const [method, path] = splitLine(line);
  const [reply, ...more] = await exchange(target.baseUrl, write(target, line, request), [method]);
  assert.ok(reply, `no answer to ${line}`);
  assert.deepEqual(more, [], `more than one answer to ${line}`);
  remember(target, { method, path, reply });
  return reply;
}

/** Requests to a service, each with its expected answer. */
export function expecting(target: Target) {
  return {
    /** Checks that the answer is this error, in its whole shape: `assertProblem`. */
    fails: async (status: number, line: string, request: Request = {}, expected: Expected = {}) =>
      assertProblem(await send(target, line, request), status, expected),
    /** Checks that the answer has this status. @param about The particulars of the request, for a failure. */
    async succeeds(status: number, line: string, request: Request = {}, about = line): Promise<Reply> {
      const reply = await send(target, line, request);
      assert.equal(reply.status, status, `${about}: ${reply.body}`);
      return reply;
    },
  };
}

/**
 * The bytes of one request that asks for the connection to be closed. While the specification alone is the law, `POST` and
 * `PUT` alone have a body, and always say how long it is: a proxy may refuse others (411, 403).
 */
export function write(target: Target, line: string, request: Request = {}): Buffer {
  const [method, path] = splitLine(line);
  const asSpecified = !holdsToContract();
  const takesBody = method === 'POST' || method === 'PUT';
  const given = request.json === undefined ? request.body : JSON.stringify(request.json);
  const content = asSpecified && !takesBody ? undefined : given;
  const none = asSpecified && takesBody && request.framed === undefined ? '' : undefined;
  const length = content ?? none;
  const type = request.type === undefined && content !== undefined ? 'application/json' : request.type;
  const headers = {
    Host: target.baseUrl.host,
    Connection: 'close',
    ...(request.token === undefined ? {} : { Authorization: `Bearer ${request.token}` }),
    ...(request.accept === undefined ? {} : { Accept: request.accept }),
    ...(type === undefined || type === null ? {} : { 'Content-Type': type }),
    ...(length === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(length)) }),
    ...request.headers,
  };
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${one}\r\n`),
  );
  const mounted = path.startsWith('/') ? `${target.baseUrl.pathname.replace(/\/$/, '')}${path}` : path;
  const head = Buffer.from(`${method} ${mounted} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return Buffer.concat([head, Buffer.from(content ?? request.framed ?? '')]);
}

/** Notes a reply for the rules of every response, and the todo that it says was made. */
export function remember(target: Target, { method, path, reply }: Exchange): void {
  target.seen.push({ method, path, reply });
  const location = header(reply, 'location');
  if (reply.status === 201 && location !== undefined) target.created.add(location);
  if (reply.status === 204 && method === 'DELETE') target.created.delete(path);
}

/** Every exchange so far; there is at least one. */
export function exchangesOf(target: Target): readonly Exchange[] {
  assert.notEqual(target.seen.length, 0, 'no test has asked anything yet');
  return target.seen;
}

export interface Todo {
  readonly id: number;
  readonly title: string;
  readonly done: boolean;
  readonly categoryId: number;
}

/** A todo of the title that most tests give. */
export function milk(id: number, { done = false, categoryId = 1 } = {}): Todo {
  return { id, title: 'Buy milk', done, categoryId };
}

/** A new todo for one test, deleted at the end of the run at the latest. */
export async function makeTodo(target: SharedList, title = 'Buy milk'): Promise<Todo> {
  const request = { token: target.tokens.editor, json: { title, categoryId: 1 } };
  const reply = await send(target, 'POST /todos', request);
  assert.equal(reply.status, 201, `cannot create a todo: ${reply.body}`);
  return json(reply) as Todo;
}

/** The todo as it is stored now, or undefined when there is none. */
export async function readTodo(target: SharedList, id: number): Promise<Todo | undefined> {
  const reply = await send(target, `GET /todos/${id}`, { token: target.tokens.reader });
  if (reply.status === 404) return undefined;
  assert.equal(reply.status, 200);
  return json(reply) as Todo;
}

/** All todos, also those of other clients. */
export async function listTodos(target: SharedList): Promise<readonly Todo[]> {
  return json(await send(target, 'GET /todos', { token: target.tokens.reader })) as Todo[];
}

/** Deletes the todos that the tests made and did not delete themselves. */
export async function leaveAsFound(target: Target): Promise<void> {
  if (target.profile === 'error-demo') return;
  for (const path of [...target.created]) {
    const { status } = await send(target, `DELETE ${path}`, { token: target.tokens.editor });
    assert.ok(status === 204 || status === 404, `DELETE ${path} answered ${status}`);
    target.created.delete(path);
  }
}

function splitLine(line: string): readonly [method: string, path: string] {
  const space = line.indexOf(' ');
  return [line.slice(0, space), line.slice(space + 1)];
}
