import { isIPv6 } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode } from '../lib/errors.ts';
import { get } from '../lib/node-http.ts';
import { readAdminConfig } from '../server/config.ts';
import type { TcpAddress } from '../wire/address.ts';
import { defineCommand } from './command.ts';

const HELP = `Usage: todo-service healthcheck [flags]

Asks the admin listener of the service beside it whether requests can be answered (/ready), for containers without
a shell. Reads TODO_ADMIN_PORT and TODO_ADMIN_HOST as the service does.

  --live                                  wait until the process answers (/live), at most 10 s; no longer than the
                                          process MAINPID lives, where systemd has set that
  -h, --help

Exit codes: 0 ready, or alive, 1 not ready, or no answer within 3 s, 2 wrong usage, 78 there is no admin listener: set
TODO_ADMIN_PORT.

Examples:
  TODO_ADMIN_PORT=9090 todo-service healthcheck
`;

/** Milliseconds. The listener answers within one second, whatever the database does. */
const PATIENCE_MS = 3_000;

/** Milliseconds. A running service answers `/live` by then; a starting one may wait for a process or a database. */
const START_MS = 10_000;

/** Milliseconds between two tries. */
const RETRY_MS = 100;

const LINE = { action: 'ask', flags: { live: { type: 'boolean' } }, help: HELP } as const;

export const healthcheck = defineCommand(LINE, async ({ live = false }, env) => {
  const address = readAdminConfig(env);
  const reason = await (live ? whyNotLive(address, env.MAINPID) : whyNot(address, '/ready'));
  if (reason === undefined) return 0;
  process.stderr.write(`Not ${live ? 'alive' : 'ready'}: ${reason}\n`);
  return 1;
});

async function whyNotLive(address: TcpAddress, pid: string | undefined): Promise<string | undefined> {
  const end = performance.now() + START_MS;
  for (;;) {
    const reason = await whyNot(address, '/live');
    if (reason === undefined || performance.now() > end || isGone(pid)) return reason;
    await pause(RETRY_MS);
  }
}

function isGone(pid: string | undefined): boolean {
  try {
    return pid !== undefined && !process.kill(Number(pid), 0);
  } catch (error) {
    return errorCode(error) === 'ESRCH';
  }
}

/** The address to ask a listener on every address at. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

async function whyNot({ host, port }: TcpAddress, path: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const asked = LOOPBACK[host] ?? host;
  const url = `http://${isIPv6(asked) ? `[${asked}]` : asked}:${port}${path}`;
  // Neither a URL nor a `Host` header takes the zone of an address.
  const headers = { host: 'localhost' };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  // No agent, so that no variable of Node.js sends the request through a proxy (contract D23).
  const request = get({ agent: false, host: asked, port, path, headers, signal }, async (response) => {
    const body = await text(response).catch(() => 'its answer has no end');
    resolve(response.statusCode === 200 ? undefined : body);
  });
  request.on('error', ({ message }) => resolve(`${url} does not answer: ${message}`));
  return promise;
}
