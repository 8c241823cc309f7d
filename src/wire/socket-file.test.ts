import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { connect, createServer as createNetServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { asNobody, temporaryFolder } from '../../test/support/folder.ts';
import { type Bound, listenOn } from './address.ts';

/** A folder and the path of a socket in it, at which a server of this program can be made to listen. */
async function makePlace() {
  const parts = new AsyncDisposableStack();
  const folder = parts.use(await temporaryFolder());
  const path = join(folder.path, 'todo.sock');
  return {
    path,
    files: () => readdirSync(folder.path).sort(),
    inode: (name = path) => lstatSync(name).ino,
    listen(server = createServer()): Promise<Bound> {
      parts.defer(() => void server.close());
      return listenOn(server, { path, mode: 0o660 });
    },
    /** Lets another program listen. */
    async occupy(name = path): Promise<Server> {
      const server = createNetServer((socket) => socket.resume()).listen(name);
      parts.defer(() => void server.close());
      await once(server, 'listening');
      return server;
    },
    /** Leaves the file of a socket on which nobody listens. */
    async leaveStale(): Promise<void> {
      const server = createNetServer().listen(`${path}.before`);
      await once(server, 'listening');
      linkSync(`${path}.before`, path);
      await once(server.close(), 'close');
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  const answered = await once(socket, 'connect').then(Boolean, () => false);
  socket.destroy();
  return answered;
}

const TAKEN = {
  name: 'OperatorError',
  reason: 'unavailable',
  message: /: another program has it: choose another path$/,
};

test('the file of a socket has its mode from its first moment under its name, and goes at the end [D13]', async () => {
  await using place = await makePlace();
  const { url, withdraw } = await place.listen();
  assert.equal(url, `unix:${place.path}`);
  assert.deepEqual(place.files(), ['todo.sock']);
  assert.equal(lstatSync(place.path).mode & 0o777, 0o660);
  assert.ok(await isAnswered(place.path));
  withdraw();
  withdraw();
  assert.deepEqual(place.files(), []);
});

test('a file on which nobody listens is replaced [D13]', async () => {
  await using place = await makePlace();
  await place.leaveStale();
  await place.listen();
  assert.ok(await isAnswered(place.path));
  assert.deepEqual(place.files(), ['todo.sock']);
});

test('a file on which nobody listens may go while it is looked at [D13]', async () => {
  await using place = await makePlace();
  await place.leaveStale();
  const listening = place.listen();
  rmSync(place.path);
  await listening;
  assert.ok(await isAnswered(place.path));
});

for (const [what, replace] of [
  ['of the same moment', (path: string) => renameSync(`${path}.other`, path)],
  // A file system may give the number of a file that is gone to the next one.
  ['with the same number', (path: string) => utimesSync(path, 2, 2)],
] as const) {
  test(`a file ${what} that takes the place of one on which nobody listens while that is looked at stays [D13; D15]`, async () => {
    await using place = await makePlace();
    await place.occupy(`${place.path}.other`);
    await place.leaveStale();
    for (const name of [place.path, `${place.path}.other`]) utimesSync(name, 1, 1);
    const listening = place.listen();
    replace(place.path);
    const inode = place.inode();
    await assert.rejects(listening, TAKEN);
    assert.equal(place.inode(), inode);
    rmSync(`${place.path}.other`, { force: true });
    assert.deepEqual(place.files(), ['todo.sock']);
  });
}

test('a file of another program that listens is not touched, and no connection to it stays [D15]', async () => {
  await using place = await makePlace();
  const server = await place.occupy();
  const asked = once(server, 'connection').then(([socket]: Socket[]) => socket && once(socket, 'close'));
  const inode = place.inode();
  await assert.rejects(place.listen(), TAKEN);
  assert.deepEqual([place.inode(), place.files()], [inode, ['todo.sock']]);
  await asked;
});

test('a file that the process may not ask for its listener is not touched [D15]', async () => {
  await using place = await makePlace();
  await place.leaveStale();
  chmodSync(dirname(place.path), 0o777);
  chmodSync(place.path, 0);
  await asNobody(() =>
    assert.rejects(place.listen(), {
      ...TAKEN,
      message: /: the system does not say whether another program has it \(EACCES\): choose another path$/,
    }),
  );
  assert.deepEqual(place.files(), ['todo.sock']);
});

test('a file that comes while a server begins to listen is not replaced [D13; D15]', async () => {
  await using place = await makePlace();
  const listening = place.listen();
  writeFileSync(place.path, 'of another program');
  await assert.rejects(listening, TAKEN);
  assert.deepEqual(place.files(), ['todo.sock']);
});

test('the file of a successor stays at the end [D13]', async () => {
  await using place = await makePlace();
  const first = createServer();
  const { withdraw } = await place.listen(first);
  renameSync(place.path, `${place.path}.before`);
  await place.listen();
  const inode = place.inode();
  withdraw();
  await once(first.close(), 'close');
  assert.deepEqual([place.inode(), place.files()], [inode, ['todo.sock', 'todo.sock.before']]);
});

for (const [kind, make] of [
  ['a regular file', (path: string) => writeFileSync(path, 'mine')],
  ['a folder', (path: string) => mkdirSync(path)],
  ['a symbolic link', (path: string) => symlinkSync('elsewhere', path)],
  ['no socket', (path: string) => spawnSync('mkfifo', [path])],
] as const) {
  test(`${kind} in its place stays as it is [D13; D15]`, async () => {
    await using place = await makePlace();
    make(place.path);
    const before = lstatSync(place.path);
    await assert.rejects(place.listen(), {
      name: 'OperatorError',
      reason: 'configuration',
      message: `cannot listen on ${place.path}: it is ${kind}, and stays as it is`,
    });
    const { ino, mtimeMs } = lstatSync(place.path);
    assert.deepEqual([ino, mtimeMs, place.files()], [before.ino, before.mtimeMs, ['todo.sock']]);
  });
}

test('a folder that is missing is named [D15]', async () => {
  await using folder = await temporaryFolder();
  const run = join(folder.path, 'run');
  await assert.rejects(listenOn(createServer(), { path: join(run, 'todo.sock'), mode: 0o660 }), {
    reason: 'configuration',
    message: `cannot listen on ${run}/todo.sock: there is no folder "${run}", or the process may not look into it`,
  });
});
