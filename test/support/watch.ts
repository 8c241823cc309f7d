import { executionAsyncResource } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach } from 'node:test';
import { Worker } from 'node:worker_threads';
import { canaries } from '../canaries/canaries.ts';
import { watchSockets } from '../canaries/sockets.ts';
import { takeWarnings } from './warnings.ts';

watchSockets(canaries);

const takeFindings = () => [...canaries.take().map((finding) => `Leak: ${finding}`), ...takeWarnings()];

// The test during which something was found fails; what is found later fails its file.
afterEach(({ fullName }) => {
  const findings = takeFindings();
  if (/\p{Cc}/u.test(fullName)) findings.push(`A title has a control character: ${JSON.stringify(fullName)}`);
  if (findings.length > 0) throw new Error(findings.join('\n'));
});
process.once('exit', () => {
  const findings = takeFindings();
  if (findings.length === 0) return;
  process.stderr.write(`${findings.join('\n')}\n`);
  process.exitCode = 1;
});

/** Seconds in which a test must begin or end: several times what the longest takes. Runs of a lab have less. */
const { LONG, HANGS_AFTER_S = LONG === undefined ? '600' : '1800' } = process.env;

// It is a thread that ends this process, because what hangs may be the loop of events here.
const limitMs = Number(HANGS_AFTER_S) * 1_000;
const watchdog = new Worker(new URL('watchdog.js', import.meta.url), {
  execArgv: [],
  workerData: { limitMs, file: process.argv[1] },
});
watchdog.unref();
beforeEach(({ fullName }) => watchdog.postMessage({ begun: fullName }));
afterEach(({ fullName }) => watchdog.postMessage({ ended: fullName }));
// Node.js 26 alone tells of the limit that a test has of its own.
subscribe('tracing:node.test:start', () => {
  const { timeout } = executionAsyncResource() as { readonly timeout?: number | null };
  if (timeout != null && timeout > limitMs) watchdog.postMessage({ limitMs: timeout });
});
