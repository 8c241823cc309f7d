import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { signer } from '../../packages/conformance/src/sign.ts';
import type { Todo } from '../../src/shared-list/members.ts';
import { type Running, type ServeOptions, startService } from '../support/start.ts';

const auth = { issuer: 'https://issuer.example', audience: 'todo-service', secret: randomBytes(32) };

/** A service under way, and an editor who asks it. */
export interface Served extends Running {
  ask(
    method: string,
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
  /** Adds a todo, which must be answered with `status`, 201 by default. */
  post(wanted?: { title?: string; categoryId?: number; status?: number }): Promise<void>;
  list(): Promise<readonly Todo[]>;
  /** The titles of all todos, by id. */
  titles(): Promise<string[]>;
  /** The admin listener's answer to `/ready`, as soon as the database has one; it needs `TODO_ADMIN_PORT`. */
  ready(): Promise<{ readonly status: number; readonly detail?: string }>;
  /** Asks `/ready` until it has this status. */
  readyWith(status: number): Promise<{ readonly detail?: string }>;
  /** The lines of the log with one of these events, or all. */
  log(...events: readonly string[]): readonly Record<string, unknown>[];
  /** Waits for a line with this event. */
  logged(event: string): Promise<Record<string, unknown>>;
}

/** Starts the service on a database, in production. */
export async function serve(database: string, options: ServeOptions = {}): Promise<Served> {
  const args = ['--database', database, ...(options.args ?? [])];
  const service = await startService({ auth, ...options, args });
  const authorization = `Bearer ${signer(auth)({ sub: 'ada', role: 'editor' })}`;
  const served: Served = {
    ...service,
    ask: (method, path, body, more = {}) =>
      fetch(service.baseUrl + path, {
        method,
        headers: { authorization, 'content-type': 'application/json', ...more },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    async post({ title = 'a', categoryId = 1, status = 201 } = {}) {
      const reply = await served.ask('POST', '/todos', { title, categoryId });
      assert.equal(reply.status, status);
      await reply.arrayBuffer();
    },
    async list() {
      const reply = await served.ask('GET', '/todos');
      const text = await reply.text();
      assert.equal(reply.status, 200, text);
      return JSON.parse(text);
    },
    titles: async () => (await served.list()).map(({ title }) => title),
    async ready() {
      const { adminUrl } = await served.logged('started');
      for (;;) {
        const reply = await fetch(`${adminUrl}/ready`);
        const { detail } = JSON.parse(await reply.text());
        // A busy machine may be late, which is none.
        if (detail !== 'The database does not answer in time.') return { status: reply.status, detail };
        await pause(50);
      }
    },
    async readyWith(status) {
      for (;;) {
        const answer = await served.ready();
        if (answer.status === status) return answer;
        await pause(50);
      }
    },
    log: (...events) =>
      service
        .stdout()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line))
        .filter(({ event }) => events.length === 0 || events.includes(event)),
    async logged(event) {
      for (;;) {
        const [line] = served.log(event);
        if (line !== undefined) return line;
        await pause(20);
      }
    },
  };
  // A busy machine may take longer to open a connection than a request waits.
  while (database.startsWith('postgres') && (await served.ask('HEAD', '/todos/1')).status === 503);
  return served;
}

/** Starts the service on a SQLite file, with an admin listener and nothing in its cache. */
export function serveFile(path: string, env: Readonly<Record<string, string>> = {}): Promise<Served> {
  return serve(`sqlite:${path}`, { env: { TODO_CACHE_MB: '0', TODO_ADMIN_PORT: '0', ...env } });
}
