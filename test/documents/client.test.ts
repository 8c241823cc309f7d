import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { transform } from 'esbuild';
import { plainEnvironment } from '../package/npm.ts';
import { run } from '../package/program.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startList } from '../support/list.ts';

const page = await readFile(new URL('../../packages/client/README.md', import.meta.url), 'utf8');
const client = new URL('../../packages/client/src/client.ts', import.meta.url).href;

/** Each example with what stands below it. */
const examples = [...page.matchAll(/```ts\n(.*?)```\n\n```\n(.*?)```/gs)];

/** The client of the first example, which the others use. */
const [, makeClient = ''] = /```ts\n(.*?\n}\);\n)/s.exec(page) ?? [];

test('packages/client/README.md has an example and its output for every part that shows code', () => {
  assert.equal(examples.length, page.match(/^```ts$/gm)?.length);
  assert.ok(examples.length >= 3);
});

test('the client has no syntax that the oldest browsers of packages/client/README.md lack', async () => {
  const [, chrome, firefox, safari] =
    /Chrome and Edge (\d+), Firefox (\d+) and Safari ([\d.]+)\. /.exec(page.replaceAll('\n', ' ')) ?? [];
  const source = await readFile(new URL(client), 'utf8');
  const { code } = await transform(source, { loader: 'ts', target: 'es2022' });
  const oldest = [`chrome${chrome}`, `edge${chrome}`, `firefox${firefox}`, `safari${safari}`];
  for (const target of oldest) assert.equal((await transform(code, { target })).code, code, target);
});

for (const [index, [, code = '', output = '']] of examples.entries()) {
  test(`packages/client/README.md · example ${index + 1} prints what stands below it`, async () => {
    await using list = await startList();
    await using folder = await temporaryFolder();
    const whole = index === 0 ? code : makeClient + code;
    const here = whole.replaceAll("'todo-service-client'", JSON.stringify(client));
    const file = await folder.write('example.ts', here.replaceAll('https://todos.example.org', list.url));
    const env = { ...plainEnvironment, TODO_TOKEN: list.editor };
    const finished = await run(process.execPath, [file], { cwd: folder.path, env });
    assert.deepEqual(finished, { code: 0, stdout: output, stderr: '' });
  });
}
