import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import { test } from 'node:test';
import { asNobody, listen, temporaryFolder } from '../../test/support/folder.ts';
import { listenOn } from './address.ts';

/** A server that ends with the test, whether it listens or not. */
function makeServer(): Server & Disposable {
  const server = createServer();
  return Object.assign(server, { [Symbol.dispose]: () => void server.close() });
}

/** The first port that anybody may have. */
function firstFree(): number {
  const file = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}

test('a port that another program has is named, with the setting that decides it [D15]', async () => {
  await using other = createNetServer();
  const port = await listen(other);
  using server = makeServer();
  await assert.rejects(listenOn(server, { host: '127.0.0.1', port, setting: 'PORT' }), {
    name: 'OperatorError',
    reason: 'unavailable',
    message: `cannot listen on 127.0.0.1 port ${port}: another program has that port: choose another one with PORT`,
  });
});

test('a port to which the process has no right is named, with what gives it the right [D15]', {
  skip: firstFree() <= 1023 && 'this machine lets everybody have that port',
}, async () => {
  using server = makeServer();
  await asNobody(() =>
    assert.rejects(listenOn(server, { host: '127.0.0.1', port: 1023, setting: 'PORT' }), {
      name: 'OperatorError',
      reason: 'configuration',
      message:
        'cannot listen on 127.0.0.1 port 1023: the process has no right to that port: choose one above 1023 with PORT, ' +
        'behind a proxy, or let systemd give it (todo-service.socket, or AmbientCapabilities=CAP_NET_BIND_SERVICE with ' +
        'PrivateUsers=no)',
    }),
  );
});

const ownNetwork = (script: string, ...words: readonly string[]) =>
  spawnSync('unshare', ['--net', 'sh', '-c', script, ...words], { encoding: 'utf8' });
const RESERVE = 'echo 9000 > /proc/sys/net/ipv4/ip_unprivileged_port_start';

test('of a port above 1023 to which the process has no right, the rules that may forbid it are named [D15]', {
  skip: ownNetwork(RESERVE).status !== 0 && 'a network of its own needs root on Linux',
}, () => {
  const code = `import { createServer } from 'node:http';
    import { listenOn } from '${new URL('./address.ts', import.meta.url)}';
    process.setuid(65_534);
    const address = { host: '0.0.0.0', port: 5080, setting: 'PORT' };
    await listenOn(createServer(), address).catch(({ reason, message }) => console.log(reason, message));`;
  const { stdout } = ownNetwork(`${RESERVE}; exec "$0" --input-type=module -e "$1"`, process.execPath, code);
  assert.equal(
    stdout,
    'configuration cannot listen on 0.0.0.0 port 5080: the process has no right to that port, although it is above 1023: ' +
      'net.ipv4.ip_unprivileged_port_start, SELinux or another security module forbids it. Choose another one with PORT, ' +
      'or have that one allowed\n',
  );
});

test('an address that is none of this machine is said in the words of the system [D15]', async () => {
  using server = makeServer();
  await assert.rejects(listenOn(server, { host: '192.0.2.1', port: 0, setting: 'PORT' }), {
    reason: 'unavailable',
    message: /^cannot listen on 192\.0\.2\.1 port 0: listen EADDRNOTAVAIL: /,
  });
});

test('a start that is stopped before it listens rejects with its reason, and nothing listens [D10]', async () => {
  using server = makeServer();
  const stop = AbortSignal.abort(new Error('stopped'));
  await assert.rejects(
    listenOn(server, { host: '127.0.0.1', port: 0, setting: 'PORT' }, stop),
    /^Error: stopped$/,
  );
  assert.equal(server.listening, false);
});

test('a descriptor that is no socket is named, with the variable that gives it [D15]', async () => {
  await using folder = await temporaryFolder();
  const fd = openSync(await folder.write('file', ''), 'r');
  using server = makeServer();
  await assert.rejects(listenOn(server, { fd, name: 'descriptor 3' }), {
    name: 'OperatorError',
    reason: 'configuration',
    message: 'cannot listen on descriptor 3: LISTEN_FDS must give a TCP or Unix socket that listens',
  });
  closeSync(fd);
});
