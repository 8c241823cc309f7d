import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/folder.ts';
import type { Serving } from '../support/start.ts';

/** Asserts that SIGUSR1 opens no debugger, on a port of its own in place of 9229, and ends nothing. */
export async function staysClosedAtSigusr1(
  serve: (env: Readonly<Record<string, string>>) => Promise<Serving>,
): Promise<void> {
  const port = await freePort();
  const NODE_OPTIONS = `--inspect-port=127.0.0.1:${port}`;
  await using service = await serve({ TODO_PROFILE: 'error-demo', NODE_OPTIONS });
  process.kill(service.pid, 'SIGUSR1');
  // Node.js opens it within a few milliseconds.
  await pause(500);
  await assert.rejects(once(connect(port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' });
  assert.equal(service.stderr(), '');
  assert.equal((await fetch(`${service.baseUrl}/todos/1`)).status, 200);
}
