import { isIPv6 } from 'node:net';
import { text } from 'node:stream/consumers';
import { readAdminConfig } from '../config.ts';
import type { Address } from '../http/transport/listeners.ts';
import { get } from '../node-http.ts';
import { defineCommand } from './command.ts';

const HELP = `Usage: todo-service healthcheck [flags]

Asks the admin listener of the service beside it whether requests can be answered (/ready), for containers without
a shell. Reads TODO_ADMIN_PORT and TODO_ADMIN_HOST as the service does.

  -h, --help

Exit codes: 0 ready, 1 not ready or no answer within 3 s, 2 wrong usage, 78 there is no admin listener: set
TODO_ADMIN_PORT.

Examples:
  TODO_ADMIN_PORT=9090 todo-service healthcheck
`;

/** Milliseconds. The listener answers within one second, whatever the database does. */
const PATIENCE_MS = 3_000;

const LINE = { action: 'ask', flags: {}, help: HELP };

/** `todo-service healthcheck`. */
export const healthcheck = defineCommand(LINE, async (_, env) => {
  const reason = await whyNotReady(readAdminConfig(env));
  if (reason === undefined) return 0;
  process.stderr.write(`Not ready: ${reason}\n`);
  return 1;
});

async function whyNotReady({ host, port }: Address): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const asked = reachable(host);
  const url = `http://${isIPv6(asked) ? `[${asked}]` : asked}:${port}/ready`;
  // Neither a URL nor a `Host` header takes the zone of an address.
  const headers = { host: 'localhost' };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const request = get({ host: asked, port, path: '/ready', headers, signal }, async (response) => {
    const body = await text(response).catch(() => 'its answer has no end');
    resolve(response.statusCode === 200 ? undefined : body);
  });
  request.on('error', ({ message }) => resolve(`${url} does not answer: ${message}`));
  return promise;
}

/** A listener on every address is asked on the loopback address. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
