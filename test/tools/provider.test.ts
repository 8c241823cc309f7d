import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { listen } from '../support/folder.ts';

const provide = (...words: readonly string[]) => {
  const { status, stderr } = spawnSync(process.execPath, ['tools/provider.ts', ...words], {
    encoding: 'utf8',
  });
  return { status, said: stderr.split('\n') };
};

for (const address of ['', 'https://127.0.0.1:5090', 'http://localhost:5090', 'http://127.0.0.1'])
  test(`the provider of the tutorial takes no address of another form, such as "${address}"`, () => {
    const [said = '', ...more] = provide(...(address === '' ? [] : [address])).said;
    assert.ok(said.endsWith(`The address is the issuer, received "${address}"`), said);
    assert.deepEqual(more, ['']);
  });

test('the provider of the tutorial takes a lifetime of whole seconds alone', () => {
  const [said = ''] = provide('http://127.0.0.1:5090', '1h').said;
  assert.ok(said.endsWith('A token lives for SECONDS, received "1h"'), said);
});

test('the provider of the tutorial says in one line that its port is in use', async () => {
  const server = createServer();
  const address = `127.0.0.1:${await listen(server)}`;
  const { status, said } = provide(`http://${address}`);
  server.close();
  assert.deepEqual(said, [`Cannot give tokens: listen EADDRINUSE: address already in use ${address}`, '']);
  assert.equal(status, 69);
});
