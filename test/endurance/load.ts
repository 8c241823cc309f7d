import { Agent, request } from 'node:http';
import { signer } from '../../packages/conformance/src/sign.ts';
import { testAuth } from '../support/list.ts';
import { type ServeOptions, startService } from '../support/start.ts';

/** What came of a request. The body was read to its end, and thrown away. */
export interface Asked {
  readonly status: number;
  /** Header `ETag`, and `Location`; `undefined` as text where there is none. */
  readonly etag: string;
  readonly location: string;
}

type Headers = Readonly<Record<string, string>>;

export type Ask = (
  method: string,
  path: string,
  body?: object,
  more?: Headers,
  signal?: AbortSignal,
) => Promise<Asked>;

/** Asks a service, over connections that are kept. */
function asking(url: string, authorization: string): Ask & Disposable {
  const agent = new Agent({ keepAlive: true });
  const ask: Ask = (method, path, body, more, signal) => {
    const headers = { authorization, 'content-type': 'application/json', ...more };
    return new Promise((resolve, reject) => {
      request(url + path, { method, headers, agent, ...(signal && { signal }) }, (answer) => {
        answer.resume().once('error', reject);
        answer.once('end', () => {
          const { statusCode: status = 0, headers: found } = answer;
          resolve({ status, etag: String(found.etag), location: String(found.location) });
        });
      })
        .once('error', reject)
        .end(body === undefined ? '' : JSON.stringify(body));
    });
  };
  return Object.assign(ask, { [Symbol.dispose]: () => agent.destroy() });
}

/**
 * Starts a service in production, and gives an editor's way to ask it, with a token for so many minutes. What is opened
 * ends with `parts`.
 */
export async function startLoaded(parts: AsyncDisposableStack, options: ServeOptions = {}, minutes = 120) {
  const { auth = testAuth() } = options;
  const service = parts.use(await startService({ environment: 'production', ...options, auth }));
  const exp = Math.floor(Date.now() / 1_000) + minutes * 60;
  const token = signer(auth)({ name: 'ada', role: 'editor', exp });
  return { service, token, ask: parts.use(asking(service.baseUrl, `Bearer ${token}`)) };
}

export type Clients = ReturnType<typeof clientsOf>;

/** What clients of a service do that has so many todos, each request over a connection that is kept. */
export function clientsOf(ask: Ask, todos: number) {
  let unavailable = 0;
  const send = async (wanted: number, ...words: Parameters<Ask>): Promise<void> => {
    const answer = await ask(...words);
    if (answer.status === 503) unavailable += 1;
    else if (answer.status !== wanted)
      throw new Error(`${words[0]} ${words[1]} was answered ${answer.status}`);
  };
  const one = () => `/todos/${1 + Math.floor(Math.random() * todos)}`;
  const todo = () => ({ title: `Todo ${Math.random().toFixed(18)}`, categoryId: 1 });
  const clients = {
    /** How many answers were 503. */
    unavailable: () => unavailable,
    readOne: () => send(200, 'GET', one()),
    list: (coding = 'identity') => send(200, 'GET', '/todos', undefined, { 'accept-encoding': coding }),
    replace: () => send(204, 'PUT', one(), todo()),
    create: () => send(201, 'POST', '/todos', todo()),
    createOnce: () => send(201, 'POST', '/todos', todo(), { 'idempotency-key': crypto.randomUUID() }),
    async replaceAndList() {
      await clients.replace();
      await clients.list();
    },
  };
  return clients;
}

/** So many at the same time do this again and again until the time is over, each at least once. Gives how often. */
export async function drive(count: number, ms: number, run: () => Promise<void>): Promise<number> {
  const until = performance.now() + ms;
  let done = 0;
  const client = async () => {
    do {
      await run();
      done += 1;
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: count }, client));
  return done;
}
