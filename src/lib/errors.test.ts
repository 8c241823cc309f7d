import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { connect, createServer } from 'node:tls';
import { listen } from '../../test/support/folder.ts';
import { asNotUsable, messageOf, NotUsable, orUndefined } from './errors.ts';

test('messageOf a certificate that nobody trusts names the variable that every form of the program reads', async () => {
  const file = (name: string) => readFileSync(new URL(`../../test/storage/tls/${name}`, import.meta.url));
  const server = createServer({ key: file('test-only-server.key'), cert: file('test-only-server.pem') });
  const socket = connect({ host: '127.0.0.1', port: await listen(server) });
  const [error] = await once(socket, 'error').catch((failure) => [failure]);
  server.close();
  assert.match(error.message, /--use-system-ca/);
  assert.match(messageOf(error), /: name its CA in NODE_EXTRA_CA_CERTS$/);
  assert.doesNotMatch(messageOf(error), /--use-system-ca/);
});

test('what is not usable is caught as that, and a bug is thrown again', () => {
  const notUsable = new NotUsable('it is empty');
  assert.equal(asNotUsable(notUsable), notUsable);
  assert.throws(() => asNotUsable(new TypeError('a bug')), /^TypeError: a bug$/);
});

test('a function gives its result, or undefined in place of any error', () => {
  assert.equal(
    orUndefined(() => decodeURIComponent('%41')),
    'A',
  );
  assert.equal(
    orUndefined(() => decodeURIComponent('%')),
    undefined,
  );
});
