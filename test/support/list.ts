import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Reply } from '../../packages/conformance/src/http.ts';
import { signer, type Trust } from '../../packages/conformance/src/sign.ts';
import { type Request, type SharedList, send } from '../../packages/conformance/src/target.ts';
import { readConfig } from '../../src/server/config.ts';
import { openService } from '../../src/server/service.ts';
import { eventLogger } from '../../src/telemetry/log.ts';
import { canaries } from '../canaries/canaries.ts';
import { leave } from './clients.ts';
import { targetOf } from './demo.ts';
import { authVariables, FEW_CONNECTIONS } from './start.ts';

/** A shared list in this process, on a real socket and an SQLite file of its own. Owned: `await using`. */
export interface List extends AsyncDisposable {
  readonly url: string;
  readonly editor: string;
  readonly reader: string;
  /** Of the admin listener, when `TODO_ADMIN_PORT` is set. */
  readonly adminUrl: string;
  readonly dataDir: string;
  /** The log so far, a JSON line each. */
  readonly log: readonly string[];
  /** As the conformance suite asks it. */
  readonly target: SharedList;
  /** One request on a connection of its own; the editor's, unless it has another token. */
  send(line: string, request?: Request): Promise<Reply>;
  /** The lines of the log with such an event, parsed. */
  lines(event: RegExp): Readonly<Record<string, unknown>>[];
}

export interface ListOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly logLevel?: string;
}

export async function startList({ env = {}, logLevel = 'info' }: ListOptions = {}): Promise<List> {
  const dataDir = await mkdtemp(join(tmpdir(), 'todo-service-'));
  const auth = testAuth();
  const read = await readConfig(
    { port: '0', 'data-dir': dataDir },
    { ...FEW_CONNECTIONS, ...(await authVariables(auth, dataDir)), TODO_LOG_LEVEL: logLevel, ...env },
  );
  const log: string[] = [];
  const keepLine = (line: string) => {
    log.push(line);
    canaries.searchOutput(line);
  };
  const service = await openService(read.config, {
    logEvent: eventLogger(pino({ level: logLevel }, { write: keepLine }), read.config.audit),
    output: { dropped: () => 0 },
  });
  const sign = signer(auth);
  const tokens = { editor: sign({ name: 'ada', role: 'editor' }), reader: sign({ name: 'bob' }) };
  const target: SharedList = { ...targetOf(service.url), profile: 'shared-list', tokens };
  return {
    url: service.url,
    dataDir,
    adminUrl: service.adminUrl ?? '',
    ...tokens,
    log,
    target,
    send: (line, request) => send(target, line, { token: tokens.editor, ...request }),
    lines: (event) => log.map((line) => JSON.parse(line)).filter((line) => event.test(line.event)),
    async [Symbol.asyncDispose]() {
      leave(service.url);
      await service[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** An issuer, an audience and a secret that only this test run knows. */
export function testAuth(): Trust {
  return { issuer: 'https://issuer.example', audience: 'todo-service', secret: randomBytes(32) };
}
