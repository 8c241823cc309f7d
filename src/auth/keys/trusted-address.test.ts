import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTrustedAddress } from './trusted-address.ts';

for (const address of [
  'https://login.example.org',
  'https://login.example.org:8443/a?b=c',
  'http://127.0.0.1:8080',
  'http://127.1',
  'http://127.255.254.253',
  'http://localhost/realms/todo',
  'http://[::1]:80/',
]) {
  test(`keys may come from ${address}`, () => assert.ok(parseTrustedAddress(address)));
}

for (const address of [
  'http://login.example.org',
  'http://127.0.0.1.example.org',
  'http://localhost.example.org',
  'http://10.0.0.1',
  'http://[::2]',
  'http://0.0.0.0',
  'http://169.254.169.254',
  'https://user@login.example.org',
  'https://:pass@login.example.org',
  'https://login.example.org/#a',
  'ftp://login.example.org',
  'file:///etc/passwd',
  'data:application/json,{}',
  'login.example.org',
  '//login.example.org',
  '',
]) {
  test(`keys may not come from ${JSON.stringify(address)}`, () => {
    assert.equal(parseTrustedAddress(address), undefined);
  });
}
