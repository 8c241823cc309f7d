import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { runProgram, startService } from '../start.ts';
import { readDocument } from './read-document.ts';

for (const profile of ['shared-list', 'error-demo'] as const) {
  test(`the file of the package and the command openapi give ${profile} byte for byte as development serves it`, async () => {
    await using service = await startService({ profile, environment: 'development' });
    const served = await readDocument(service);
    const file = await readFile(new URL(`../../src/openapi/${profile}.v1.json`, import.meta.url), 'utf8');
    assert.equal(file, served, 'npm run openapi writes the file anew');
    const { code, stdout } = await runProgram(['openapi', '--profile', profile]);
    assert.equal(code, 0);
    assert.equal(stdout, `${served}\n`);
  });
}

test('openapi prints the document of the shared list unless told otherwise, and refuses other profiles', async () => {
  const { stdout } = await runProgram(['openapi']);
  assert.deepEqual(await runProgram(['openapi', '--profile', 'shared-list']), {
    code: 0,
    stdout,
    stderr: '',
  });
  const { code, stderr } = await runProgram(['openapi', '--profile', 'list']);
  assert.equal(code, 2);
  assert.match(stderr, /^--profile must be shared-list or error-demo, received "list"\n/);
});
