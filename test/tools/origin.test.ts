import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commitOf, dateOf, sourceOf } from '../../tools/origin.ts';
import { temporaryFolder } from '../support/folder.ts';

/** A repository with one file and one commit, in a folder with a blank. */
function repository(folder: string): string {
  const root = join(folder, 'a repository');
  mkdirSync(root);
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', root, ...words], { encoding: 'utf8' }).trim();
  git('init', '--quiet');
  git('remote', 'add', 'origin', 'https://ada:s3cr3t@example.org/todo/service.git');
  writeFileSync(join(root, 'file'), '');
  git('add', 'file');
  const as = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.org', '-c', 'commit.gpgSign=false'];
  git(...as, 'commit', '--quiet', '--no-verify', '--date=@1000000000', '--message=first');
  return root;
}

const COMMIT = /^[0-9a-f]{40}$/;

test('a checkout has its commit, its date and its address, without a password', async () => {
  await using folder = await temporaryFolder();
  const root = repository(folder.path);
  assert.match(commitOf(root) ?? '', COMMIT);
  assert.match(dateOf(root), /^[0-9]+$/);
  assert.equal(sourceOf(root), 'https://example.org/todo/service');
  writeFileSync(join(root, 'file'), 'changed');
  assert.match(commitOf(root) ?? '', /^[0-9a-f]{40}-dirty$/);
});

test('a worktree and a submodule, whose .git is a file, are as good as a clone', async () => {
  await using folder = await temporaryFolder();
  const root = repository(folder.path);
  const worktree = join(folder.path, 'worktree');
  execFileSync('git', ['-C', root, 'worktree', 'add', '--quiet', worktree]);
  assert.equal(commitOf(worktree), commitOf(root));
  const module = join(folder.path, 'module');
  cpSync(root, module, { recursive: true });
  renameSync(join(module, '.git'), join(folder.path, 'modules'));
  writeFileSync(join(module, '.git'), 'gitdir: ../modules\n');
  assert.equal(commitOf(module), commitOf(root));
  assert.equal(sourceOf(module), sourceOf(root));
});

for (const place of ['release', 'packages/release']) {
  test(`sources unpacked inside another repository, in ${place}, have no commit and no address`, async () => {
    await using folder = await temporaryFolder();
    const unpacked = join(repository(folder.path), place);
    mkdirSync(unpacked, { recursive: true });
    assert.equal(commitOf(unpacked), null);
    assert.equal(sourceOf(unpacked), '');
  });
}

test('a repository that the caller names by a variable, as a hook of git does, is not that of the sources', async (t) => {
  await using folder = await temporaryFolder();
  const root = repository(folder.path);
  const before = process.env;
  t.after(() => {
    process.env = before;
  });
  process.env = { ...before, GIT_DIR: join(root, '.git'), GIT_WORK_TREE: root };
  const unpacked = join(folder.path, 'unpacked');
  mkdirSync(unpacked);
  assert.equal(commitOf(unpacked), null);
});
