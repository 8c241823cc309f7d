import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { signer } from '../../conformance/src/sign.ts';
import { temporaryFolder } from '../folder.ts';
import { type Running, startService } from '../start.ts';

/** A service in production on a SQLite file, with nothing in its cache. */
export interface ServedFile extends AsyncDisposable {
  readonly service: Running;
  /** Of the database. */
  readonly path: string;
  ask(method: string, path: string, body?: object): Promise<Response>;
  /** Adds a todo; the status. */
  add(title: string): Promise<number>;
  /** The admin listener's answer to `/ready`. */
  ready(): Promise<{ readonly status: number; readonly detail?: string }>;
  /** Asks `/ready` until it has this status. */
  readyWith(status: number): Promise<{ readonly detail?: string }>;
  /** The lines of the log with one of these events. */
  log(...events: readonly string[]): readonly Record<string, unknown>[];
  /** Waits for a line with this event. */
  logged(event: string): Promise<Record<string, unknown>>;
}

/**
 * @param folder Where `data/` is or will be; without it, a folder that is removed afterwards.
 */
export async function serveFile(
  folder?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ServedFile> {
  await using parts = new AsyncDisposableStack();
  const place = folder ?? parts.use(await temporaryFolder()).path;
  const dataDir = join(place, 'data');
  await mkdir(dataDir, { recursive: true });
  const auth = { issuer: 'https://issuer.example', audience: 'todo', secret: randomBytes(32) };
  const all = { TODO_CACHE_MB: '0', TODO_ADMIN_PORT: '0', ...env };
  const service = parts.use(await startService({ dataDir, auth, environment: 'production', env: all }));
  const headers = {
    authorization: `Bearer ${signer(auth)({ role: 'editor' })}`,
    'content-type': 'application/json',
  };
  const ask = (method: string, path: string, body?: object) =>
    fetch(service.baseUrl + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const log = (...events: readonly string[]): Record<string, unknown>[] =>
    service
      .stdout()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .filter(({ event }) => events.includes(event));
  async function logged(event: string): Promise<Record<string, unknown>> {
    for (;;) {
      const [line] = log(event);
      if (line !== undefined) return line;
      await pause(20);
    }
  }
  const { adminUrl } = await logged('started');
  async function ready(): Promise<{ status: number; detail?: string }> {
    const reply = await fetch(`${adminUrl}/ready`);
    const { detail } = JSON.parse(await reply.text());
    return { status: reply.status, detail };
  }
  const owned = parts.move();
  return {
    service,
    path: join(dataDir, 'todos.db'),
    ask,
    add: async (title) => (await ask('POST', '/todos', { title, categoryId: 1 })).status,
    ready,
    async readyWith(status) {
      for (;;) {
        const answer = await ready();
        if (answer.status === status) return answer;
        await pause(50);
      }
    },
    log,
    logged,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
