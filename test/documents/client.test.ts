import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { temporaryFolder } from '../folder.ts';
import { startList } from '../operations/list.ts';

const page = await readFile(new URL('../../docs/client.md', import.meta.url), 'utf8');
const client = new URL('../../client/src/client.ts', import.meta.url).href;

/** Each example with what stands below it. */
const examples = [...page.matchAll(/```ts\n(.*?)```\n\n```\n(.*?)```/gs)];

test('docs/client.md has an example and its output for every part that shows code', () => {
  assert.equal(examples.length, page.match(/^```ts$/gm)?.length);
  assert.ok(examples.length >= 3);
});

for (const [index, [, code = '', output = '']] of examples.entries()) {
  test(`docs/client.md · example ${index + 1} prints what stands below it`, async () => {
    await using list = await startList();
    await using owned = await temporaryFolder();
    const folder = owned.path;
    const file = join(folder, 'example.ts');
    const here = code.replaceAll("'todo-service-client'", `'${client}'`);
    await writeFile(file, here.replaceAll('https://todos.example.org', list.url));
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = spawn(process.execPath, [file], {
      env: { ...env, TODO_TOKEN: list.editor },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const printed = Promise.all([text(child.stdout), text(child.stderr)]);
    const [exitCode] = (await once(child, 'close')) as [number];
    const [stdout, stderr] = await printed;
    assert.equal(exitCode, 0, stderr);
    assert.equal(stdout, output);
  });
}
