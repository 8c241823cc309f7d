import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import conformance from '../../packages/conformance/package.json' with { type: 'json' };
import { signer } from '../../packages/conformance/src/sign.ts';
import { temporaryFolder } from '../support/folder.ts';
import { authVariables, startService } from '../support/start.ts';
import { install, installNode, pack, programsOf, project } from './npm.ts';
import { run } from './program.ts';

const parts = new AsyncDisposableStack();
after(() => parts.disposeAsync());

const folder = parts.use(await temporaryFolder()).path;
const auth = { issuer: 'https://issuer.test', audience: 'todos', secret: randomBytes(64) };
const pinned = dirname(process.execPath);
const tooOld = await installNode(await mkdtemp(join(folder, 'node-')), 'tooOld');

const USE = `import { createTodoClient, type Todo, type TodoClient, type WriteOptions } from 'todo-service-client';
declare const process: { readonly env: Readonly<Record<string, string>> };
const client: TodoClient = createTodoClient({ baseUrl: process.env['URL'] ?? '', token: () => process.env['TOKEN'] });
// @ts-expect-error A title is a string.
const refused = await client.create({ title: 1, categoryId: 2 }).catch((error: unknown) => String(error));
await client.create({ title: 'Buy milk', categoryId: 2 }, { idempotencyKey: true });
// @ts-expect-error The tag of the list is no todo's.
const change: WriteOptions = { ifMatch: (await client.list()).etag };
const titles: readonly string[] = (await client.list()).todos.map((todo: Todo) => todo.title);
console.log(refused, titles);
`;

test('the package todo-service-client brings its types, and calls the service from Node.js 20, alone in its folder', async () => {
  const cwd = await mkdtemp(join(folder, 'client-'));
  const { tarball, files } = await pack(cwd, join(project, 'packages', 'client'));
  assert.deepEqual(files.map(({ path }) => path).sort(), [
    ...['LICENSE', 'README.md', 'dist/client.d.ts', 'dist/client.js', 'package.json'],
  ]);
  await install(cwd, tarball, '--offline');
  await writeFile(join(cwd, 'use.mts'), USE);
  const tsc = join(project, 'node_modules', '.bin', 'tsc');
  const flags = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', ''];
  const words = [...flags, '--lib', 'es2022,dom', 'use.mts'];
  const compiled = await run(tsc, words, { cwd, env: programsOf(pinned) });
  assert.equal(compiled.code, 0, compiled.stdout);

  const TOKEN = signer(auth)({ name: 'ada', role: 'editor' });
  for (const [programs, file] of [
    [tooOld, 'use.mjs'],
    [pinned, 'use.mts'],
  ] as const) {
    await using service = await startService({ auth });
    const env = { ...programsOf(programs), URL: service.baseUrl, TOKEN };
    const { stdout, stderr } = await run('node', [file], { cwd, env });
    assert.match(
      stdout,
      /^TodoProblem: 400 One or more validation errors occurred\. \[ 'Buy milk' \]\n$/,
      stderr,
    );
  }
});

test('the package todo-conformance holds the service to both profiles, alone in its folder, and refuses Node.js 20', async () => {
  const cwd = await mkdtemp(join(folder, 'conformance-'));
  const { tarball, files } = await pack(cwd, join(project, 'packages', 'conformance'));
  assert.deepEqual(
    files.filter(({ path }) => !/^(?:package\.json|README\.md|LICENSE|dist\/.+\.js)$/.test(path)),
    [],
  );
  await install(cwd, tarball, '--offline');
  const program = join('node_modules', '.bin', 'todo-conformance');
  const help = await run(program, ['--help'], { cwd, env: programsOf(pinned) });
  assert.deepEqual([help.code, help.stderr], [0, '']);
  assert.match(help.stdout, /^Usage: todo-conformance --base-url URL /);

  const { TODO_AUTH_SECRET_FILE: file = '' } = await authVariables(auth, cwd);
  const claims = ['--secret-file', file, '--issuer', auth.issuer, '--audience', auth.audience];
  for (const [profile, flags] of [
    ['error-demo', []],
    ['shared-list', claims],
  ] as const) {
    await using service = await startService({ profile, auth });
    const words = ['--base-url', service.baseUrl, '--profile', profile, '--fresh', ...flags];
    const { code, stdout, stderr } = await run(program, words, { cwd, env: programsOf(pinned) });
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /^ℹ pass [1-9]\d*$/m);
    assert.match(stdout, /^ℹ fail 0$/m);
  }

  const words = ['--base-url', 'http://127.0.0.1:9', '--profile', 'error-demo'];
  assertRefusal(
    await run(program, words, { cwd, env: programsOf(tooOld) }),
    'Cannot test: todo-conformance needs Node.js 22.12 or later',
  );
  assert.equal(conformance.engines.node, '>=22.12.0');
});

describe('A checkout with Node.js 20', () => {
  const place = { cwd: project, env: programsOf(tooOld) };

  test('the program says one sentence and ends', async () => {
    const finished = await run('node', ['src/start.js'], place);
    assertRefusal(finished, 'Cannot start: todo-service needs Node.js 24.15 or later');
  });

  // Run without npm, because npm 11 puts the pinned Node.js first on the path and npm 10 does not.
  test('an npm script runs the pinned one', async () => {
    const flags = `--name ada --data-dir '${join(folder, 'data')}'`;
    const { code, stdout, stderr } = await run('sh', ['-c', `${manifest.scripts.token} ${flags}`], place);
    assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/, stderr);
    assert.equal(code, 0);
  });
});

function assertRefusal({ code, stdout, stderr }: Awaited<ReturnType<typeof run>>, line: string): void {
  assert.equal(stderr.replace(/v20\.[\d.]+\n$/, 'v20'), `${line}, received v20`);
  assert.deepEqual([code, stdout], [69, '']);
}
