import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { signer } from '../../conformance/src/sign.ts';
import { type Running, startService } from '../start.ts';
import { compileDisk, noDisk } from './disk.ts';
import { temporaryFolder } from './folder.ts';

const skip = noDisk();

interface Failing extends AsyncDisposable {
  readonly service: Running;
  ask(method: string, path: string, body?: object): Promise<Response>;
  /** From now on, every read of the database fails with this error. */
  breakReads(errno: number): Promise<void>;
}

/** A service in production, on a disk that can be made to fail. */
async function startOnDisk(): Promise<Failing> {
  await using parts = new AsyncDisposableStack();
  const { path } = parts.use(await temporaryFolder());
  const dataDir = join(path, 'data');
  const unreadable = join(path, 'unreadable');
  await mkdir(dataDir);
  const auth = { issuer: 'https://issuer.example', audience: 'todo', secret: randomBytes(32) };
  const disk = { ...(await compileDisk(path)), DISK_FOLDER: dataDir, DISK_UNREADABLE: unreadable };
  const env = { ...disk, TODO_CACHE_MB: '0' };
  const service = parts.use(await startService({ dataDir, auth, environment: 'production', env }));
  const headers = {
    authorization: `Bearer ${signer(auth)({ role: 'editor' })}`,
    'content-type': 'application/json',
  };
  const owned = parts.move();
  return {
    service,
    ask: (method, target, body) =>
      fetch(service.baseUrl + target, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    breakReads: (errno) => writeFile(unreadable, String(errno)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test('a list that the disk fails to read is a 503: the fault is not hidden by the end of its transaction', {
  skip,
}, async () => {
  await using disk = await startOnDisk();
  assert.equal((await disk.ask('GET', '/todos')).status, 200);
  assert.equal((await disk.ask('POST', '/todos', { title: 'a', categoryId: 1 })).status, 201);
  await disk.breakReads(constants.errno.ETIMEDOUT);
  assert.equal((await disk.ask('GET', '/todos')).status, 503);
});
