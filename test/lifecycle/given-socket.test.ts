import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { freePort, temporaryFolder } from '../support/folder.ts';
import { Holder, noParent, startGiven } from '../support/given.ts';
import { endOf } from '../support/start.ts';

const DEMO = ['serve', '--profile', 'error-demo'];

const LINUX = process.platform !== 'linux' && 'the kernel of this system does not tell what a descriptor is';

/** Starts the error demo on what is given, asks it once, and stops it: its first line, and the status. */
async function servedOn(
  kind: string,
  {
    words = [],
    env = {},
    place = '',
  }: { words?: string[]; env?: Record<string, string>; place?: string } = {},
) {
  const child = startGiven(kind, [...DEMO, ...words], env, place);
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    log += chunk;
  });
  const ended = endOf(child);
  while (!log.includes('"started"')) await Promise.race([once(child.stdout, 'data'), ended.then(failed)]);
  const { event: _, ...started } = JSON.parse(/^.*"started".*$/m.exec(log)?.[0] ?? '');
  const status = await statusAt(started.url);
  child.kill('SIGTERM');
  return { started, status, log, ...(await ended) };
}

function failed({ end, said }: { end: unknown; said: string }): never {
  throw new Error(`ended with ${end}: ${said}`);
}

async function statusAt(url: string): Promise<number | undefined> {
  const socketPath = /^unix:(.*)$/.exec(url)?.[1]?.replace(/^@/, '\0');
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const asked = request({
    // No target has an authority there (contract Order 1). Node.js would set a Host in place of an empty one.
    ...(socketPath ? { socketPath, headers: { host: '' }, setHost: false } : { host, port }),
    path: '/todos/1',
    agent: false,
  });
  const [response] = await once(asked.end(), 'response');
  response.resume();
  return response.statusCode;
}

describe('A socket that came with the start', { skip: noParent(), concurrency: 2 }, () => {
  for (const [kind, url] of [
    ['tcp', /^http:\/\/127\.0\.0\.1:\d+$/],
    ['tcp6', /^http:\/\/\[::1\]:\d+$/],
    ['unix', /^unix:\/.*\/a list\.sock$/],
  ] as const) {
    test(`${kind} is listened on in place of host, port and file, whatever these say, and the first line says so [D13]`, async () => {
      await using folder = await temporaryFolder();
      const place = join(folder.path, 'a list.sock');
      const env = { TODO_HOST: '192.0.2.1', PORT: '1', TODO_SOCKET: 'todo.sock', TODO_SOCKET_MODE: '777' };
      const { started, status, end, said } = await servedOn(kind, { words: ['--port', 'http'], env, place });
      assert.match(started.url, url);
      assert.deepEqual([started.portFrom, status, end, said], ['LISTEN_FDS', 200, 0, '']);
      // The file is the parent's.
      assert.equal(existsSync(place), kind === 'unix');
    });
  }

  test('an abstract Unix socket is listened on too [D13]', { skip: LINUX }, async () => {
    const place = `todo-${process.pid}`;
    const { started, status } = await servedOn('abstract', { place });
    assert.deepEqual([started.url, status], [`unix:@${place}`, 200]);
  });

  for (const [kind, what] of [
    ['unbound', 'a socket that does not listen, or is of another network namespace'],
    ['not-listening', 'a socket that does not listen, or is of another network namespace'],
    ['connection', 'a TCP connection'],
    ['udp', 'a UDP socket'],
    ['udp6', 'a UDP socket'],
    ['unix-not-listening', 'a Unix socket that does not listen'],
    ['unix-datagram', 'a Unix socket that is no stream'],
    ['unix-packets', 'a Unix socket that is no stream'],
    ['pipe', /"pipe:\[\d+\]"/],
    ['file', /"\/.*todo\.sock"/],
    ['closed', /closed|"anon_inode:.*"/],
  ] as const) {
    test(`${kind} is a fault that says what descriptor 3 is, for serve and config, with 78 [D13; D15]`, {
      skip: LINUX,
    }, async () => {
      for (const command of ['serve', 'config']) {
        await using folder = await temporaryFolder();
        const place = join(folder.path, 'todo.sock');
        const words = [command, '--profile', 'error-demo'];
        const { end, said } = await endOf(startGiven(kind, words, { TODO_PORT: '0' }, place));
        const begin =
          '^Cannot start, the configuration has faults:\\n  LISTEN_FDS must be "1", for one TCP or Unix socket that ' +
          'listens, received "1", with descriptor 3 ';
        assert.match(said, new RegExp(`${begin}${typeof what === 'string' ? what : what.source}\\n$`));
        assert.equal(end, 78);
      }
    });
  }

  for (const [announced, kind, what] of [
    ...['0', '-1', '01', '1.0', 'abc', '1,2'].map(
      (each) => [each, 'tcp', 'a TCP socket that listens'] as const,
    ),
    ['2', 'abstract', 'a Unix socket that listens'],
  ] as const) {
    test(`LISTEN_FDS=${announced} is a fault with 78 [D13; D15]`, { skip: LINUX }, async () => {
      const { end, said } = await endOf(
        startGiven(kind, DEMO, { LISTEN_FDS: announced }, `todo-${process.pid}`),
      );
      const received = `received "${announced}", with descriptor 3 ${what}`;
      assert.equal(
        said.split('\n')[1],
        `  LISTEN_FDS must be "1", for one TCP or Unix socket that listens, ${received}`,
      );
      assert.equal(end, 78);
    });
  }

  for (const [what, env] of [
    ['of another process', { LISTEN_PID: '1' }],
    ['that is empty', { LISTEN_PID: '' }],
    ['without a number of sockets', { LISTEN_FDS: '' }],
  ] as const) {
    test(`LISTEN_PID ${what} means nothing [D13]`, async () => {
      const port = await freePort();
      const { started, status } = await servedOn('udp', { words: ['--port', String(port)], env });
      assert.deepEqual([started.url, started.portFrom, status], [`http://127.0.0.1:${port}`, undefined, 200]);
    });
  }

  test('config and the first lines of development say that it holds, and which settings do not [D13; D22]', async () => {
    const words = ['config', '--profile', 'error-demo', '--socket', '/a'];
    const child = startGiven('tcp', words, { TODO_HOST: 'a', PORT: '1' });
    const rows = (await text(child.stdout)).split('\n').map((row) => row.trimEnd().split(/ {2,}/));
    const of = (name: string) => rows.filter(([variable]) => variable === name).map(([, ...cells]) => cells);
    assert.deepEqual(of('LISTEN_FDS'), [['1', 'variable']]);
    assert.deepEqual(of('TODO_HOST'), [['not used', 'variable']]);
    assert.deepEqual(of('TODO_PORT'), [['not used', 'PORT']]);
    assert.deepEqual(of('TODO_SOCKET'), [['not used', '--socket']]);

    const serving = startGiven('tcp', [...DEMO, '--environment', 'development']);
    let said = '';
    for await (const chunk of serving.stdout) {
      said += chunk;
      if (said.includes('from the variable')) break;
    }
    serving.kill('SIGTERM');
    assert.match(said, /\n {2}listening {2}http:\S+\n {2}socket {5}from the variable LISTEN_FDS\n/);
  });

  test('descriptors that came with the start leave fewer for connections [D16]', {
    skip: LINUX,
  }, async () => {
    const taken = async (more: number) => {
      const { log } = await servedOn('tcp', { env: { GIVEN_MORE: String(more) } });
      return JSON.parse(/^.*"connections-reduced".*$/m.exec(log)?.[0] ?? '').taken;
    };
    assert.equal((await taken(1)) - (await taken(41)), 40);
  });

  test('what connects while nothing serves waits, and is answered by the next start [D13]', async () => {
    using parent = await Holder.open(DEMO);
    for (let start = 0; start < 2; start += 1) {
      const answered = Array.from({ length: 40 }, () => statusAt(parent.url));
      const pid = await parent.start();
      assert.deepEqual(await Promise.all(answered), Array(40).fill(200));
      process.kill(pid, 'SIGTERM');
      assert.equal(await parent.ended(), 0);
    }
  });
});
