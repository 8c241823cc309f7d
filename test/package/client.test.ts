import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { signer } from '../../conformance/src/sign.ts';
import { temporaryFolder } from '../folder.ts';
import { startService } from '../start.ts';
import { installAlone, installNode, pack, programsOf, project } from './npm.ts';
import { run } from './program.ts';

const PROGRAM = `import { createTodoClient, type Todo, type TodoClient } from 'todo-service-client';
declare const process: { readonly env: Readonly<Record<string, string>> };
const client: TodoClient = createTodoClient({ baseUrl: process.env['URL'] ?? '', token: () => process.env['TOKEN'] ?? '' });
// @ts-expect-error A title is a string.
const refused = await client.create({ title: 1, categoryId: 2 }).catch((error: unknown) => String(error));
await client.create({ title: 'Buy milk', categoryId: 2 }, { idempotencyKey: true });
const titles: readonly string[] = (await client.list()).todos.map((todo: Todo) => todo.title);
console.log(refused, titles);
`;

test('the package todo-service-client brings its types, and calls the service from Node.js 20, alone in its folder', async () => {
  await using owned = await temporaryFolder();
  const folder = owned.path;
  const { tarball, files } = await pack(folder, join(project, 'client'));
  assert.deepEqual(files.map(({ path }) => path).sort(), [
    ...['LICENSE', 'README.md', 'dist/client.d.ts', 'dist/client.js', 'package.json'],
  ]);
  await installAlone(folder, tarball);
  await writeFile(join(folder, 'use.mts'), PROGRAM);
  const place = { cwd: folder, env: programsOf(dirname(process.execPath)) };
  const old = await installNode(await mkdtemp(join(folder, 'node-')), 'tooOld');
  const tsc = join(project, 'node_modules', '.bin', 'tsc');
  const flags = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', ''];
  const compiled = await run(tsc, [...flags, '--lib', 'es2022,dom', 'use.mts'], place);
  assert.equal(compiled.code, 0, compiled.stdout);

  const auth = { issuer: 'https://issuer.test', audience: 'todos', secret: randomBytes(32) };
  const TOKEN = signer(auth)({ name: 'ada', role: 'editor' });
  for (const [programs, file] of [
    [old, 'use.mjs'],
    [dirname(process.execPath), 'use.mts'],
  ] as const) {
    await using service = await startService({ auth });
    const env = { ...programsOf(programs), URL: service.baseUrl, TOKEN };
    const { stdout, stderr } = await run('node', [file], { cwd: folder, env });
    assert.match(
      stdout,
      /^TodoProblem: 400 One or more validation errors occurred\. \[ 'Buy milk' \]\n$/,
      stderr,
    );
  }
});
