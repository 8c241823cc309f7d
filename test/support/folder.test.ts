import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { freePort } from './folder.ts';

test('a port that one process of the tests was given goes to no other, also while nobody listens there', async () => {
  const port = await freePort();
  const program = `Object.defineProperty(process, 'pid', { value: ${process.pid} });
    const { freePort } = await import(${JSON.stringify(import.meta.resolve('./folder.ts'))});
    console.log(await freePort());`;
  const args = ['--input-type=module', '--eval', program];
  assert.notEqual(Number(execFileSync(process.execPath, args)), port);
});
