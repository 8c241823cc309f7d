import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { install, installNode, pack, programsOf, project } from './npm.ts';
import { run } from './program.ts';

test('the package todo-service-client brings its types, and runs on Node.js 20 where nothing else is installed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'todo-client-'));
  t.after(() => rm(folder, { recursive: true }));
  const { tarball, files } = await pack(folder, join(project, 'client'));
  assert.deepEqual(files.map(({ path }) => path).sort(), [
    ...['LICENSE', 'README.md', 'dist/client.d.ts', 'dist/client.js', 'package.json'],
  ]);
  await install(folder, tarball);
  await writeFile(
    join(folder, 'use.mts'),
    `import { createTodoClient, type Todo, type TodoClient } from 'todo-service-client';
     const client: TodoClient = createTodoClient({ baseUrl: 'http://127.0.0.1:9', retries: 0 });
     export const titles: readonly string[] = (await client.list()).todos.map((todo: Todo) => todo.title);
    `,
  );
  const place = { cwd: folder, env: programsOf(dirname(process.execPath)) };
  const old = await installNode(await mkdtemp(join(folder, 'node-')), 'tooOld');
  const tsc = join(project, 'node_modules', '.bin', 'tsc');
  const flags = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', ''];
  const compiled = await run(tsc, [...flags, '--lib', 'es2022,dom', 'use.mts'], place);
  assert.equal(compiled.code, 0, compiled.stdout);
  for (const env of [programsOf(old), place.env]) {
    const { stderr } = await run('node', ['use.mjs'], { ...place, env });
    assert.match(stderr, /TodoError: GET \/todos got no answer/);
  }
});
