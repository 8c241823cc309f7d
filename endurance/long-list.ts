import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { signer } from '../conformance/src/sign.ts';
import { startService } from '../test/start.ts';
import { temporaryFolder } from '../test/storage/folder.ts';
import { makeTodos } from './make-todos.ts';
import type { Watched } from './watch-process.ts';

const WATCH = new URL('./watch-process.ts', import.meta.url).href;

/** A service with many todos, and a process beside it that does nothing; both watch themselves. */
export interface LongList extends AsyncDisposable {
  /** An answer of which nothing was read. */
  open(path: string): Promise<IncomingMessage>;
  /** Reads the answer to its end; its status. */
  ask(method: string, path: string, body?: object): Promise<number>;
  /** Replaces todos, so many a second, in a steady rhythm that waits for no answer; how many. */
  write(perSecond: number, until: number): Promise<number>;
  /** Forgets what was seen so far. */
  begin(): void;
  /** Ends both processes. */
  end(): Promise<{ readonly service: Watched; readonly idle: Watched }>;
}

export async function startLongList(
  todos: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<LongList> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await temporaryFolder());
  await makeTodos(folder.path, todos);
  const auth = { issuer: 'https://issuer.example', audience: 'todo', secret: randomBytes(32) };
  const env = { NODE_OPTIONS: `--import=${WATCH}` };
  const service = parts.use(
    await startService({ dataDir: folder.path, auth, environment: 'production', env }),
  );
  const idle = parts.adopt(startIdle(), (child) => void child.kill('SIGKILL'));
  const idleSaid = text(idle.stderr);
  const agent = parts.adopt(new Agent({ keepAlive: true }), (it) => it.destroy());
  const authorization = `Bearer ${signer(auth)({ role: 'editor' })}`;

  function open(path: string, method = 'GET', body?: object): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const all = { authorization, 'content-type': 'application/json', ...headers };
    request(service.baseUrl + path, { method, headers: all, agent }, resolve)
      .on('error', reject)
      .end(body === undefined ? '' : JSON.stringify(body));
    return promise;
  }

  async function ask(method: string, path: string, body?: object): Promise<number> {
    const answer = await open(path, method, body);
    await once(answer.resume(), 'end');
    return answer.statusCode ?? 0;
  }

  const owned = parts.move();
  return {
    open,
    ask,
    async write(perSecond, until) {
      const began = performance.now();
      const asked: Promise<number>[] = [];
      for (let due = began; due < until; due += 1_000 / perSecond) {
        await pause(Math.max(due - performance.now(), 0));
        const id = 1 + Math.floor(Math.random() * todos);
        asked.push(ask('PUT', `/todos/${id}`, { title: `Changed ${Math.random()}`, categoryId: 1 }));
      }
      return (await Promise.all(asked)).length;
    },
    begin() {
      process.kill(service.pid, 'SIGUSR2');
      idle.kill('SIGUSR2');
    },
    async end() {
      await service.stop();
      idle.stdin.end();
      return { service: JSON.parse(service.stderr()), idle: JSON.parse(await idleSaid) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function startIdle() {
  const forever = 'process.stdin.resume()';
  return spawn(process.execPath, ['--import', WATCH, '--eval', forever], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
}
