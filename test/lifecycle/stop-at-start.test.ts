import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { temporaryFolder } from '../support/folder.ts';
import { Holder, noParent } from '../support/given.ts';
import { Connection } from '../support/raw.ts';
import { preloading } from '../support/start.ts';

const GET = 'GET /todos HTTP/1.1\r\nHost: a\r\n\r\n';

/** Sends itself SIGTERM at this moment of the start, of code that runs before the program. */
const stopped = (moment: string) => `
  import { subscribe } from 'node:diagnostics_channel';
  import { registerHooks } from 'node:module';
  import { Server } from 'node:net';
  const stop = () => process.kill(process.pid, 'SIGTERM');
  ${moment}
`;

/** The 250 ms that a stopped start may take end with the first request, not before: the machine is slow. */
const SLOW = `
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (call, ms, ...rest) => {
    if (ms !== 250) return setTimeout(call, ms, ...rest);
    subscribe('http.server.request.start', call);
    return setTimeout(call, 1e9);
  };
`;

/** 40 clients ask while nothing serves, a start is stopped at a moment, and another one serves: what they get. */
async function askedMeanwhile(
  variables: Readonly<Record<string, string>>,
  stop: (pid: number) => Promise<void>,
) {
  await using data = await temporaryFolder();
  using parent = await Holder.open(['serve', '--data-dir', data.path, '--environment', 'development']);
  const clients = await Promise.all(Array.from({ length: 40 }, () => Connection.open(parent.url)));
  for (const { socket } of clients) socket.write(GET);
  await stop(await parent.start(variables));
  const end = await parent.ended();
  const pid = await parent.start();
  for (const client of clients) await client.until('"traceId"');
  const answers = clients.map((client) => client.statuses());
  for (const { socket } of clients) socket.destroy();
  process.kill(pid, 'SIGTERM');
  await parent.ended();
  return { end, answers };
}

const UNAUTHORIZED = Array.from({ length: 40 }, () => [401]);

describe('A stop during the start, with 40 requests in the queue of a held socket', {
  skip: noParent(),
  timeout: 480_000,
}, () => {
  for (const [what, moment, ends] of [
    ['before anything of the program', 'stop();', [-15]],
    [
      'while the store opens',
      `registerHooks({
        load(url, context, next) {
          if (url.endsWith('auth/keys/source.ts')) stop();
          return next(url, context);
        },
      });${SLOW}`,
      [0],
    ],
    [
      'as it begins to listen',
      `const { listen } = Server.prototype;
      Server.prototype.listen = function (...words) {
        if (words[0]?.fd === 3) stop();
        return listen.apply(this, words);
      };${SLOW}`,
      [0],
    ],
    ['at the first connection', "subscribe('net.server.socket', stop);", [0]],
    ['at the first request', "subscribe('http.server.request.start', stop);", [0]],
  ] as const) {
    test(`${what}: each is answered once, then or by the next start [D15]`, async () => {
      const { end, answers } = await askedMeanwhile(preloading(stopped(moment)), async () => {});
      assert.deepEqual(answers, UNAUTHORIZED);
      assert.ok(
        ends.some((one) => one === end),
        `ended with ${end}`,
      );
    });
  }

  test('at any moment: each is answered once, then or by the next start [D15]', async () => {
    for (let ms = 0; ms <= 1_000; ms += 200) {
      const { answers } = await askedMeanwhile({}, async (pid) => {
        await pause(ms);
        process.kill(pid, 'SIGTERM');
      });
      assert.deepEqual(answers, UNAUTHORIZED, `after ${ms} ms`);
    }
  });
});
