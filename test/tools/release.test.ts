import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputOf } from '../../tools/command.ts';
import { licenseFault } from '../../tools/executable/licenses.ts';
import { disagreements } from '../../tools/release/agreement.ts';
import { bill } from '../../tools/release/bill.ts';

const MANIFEST = { version: '1.2.3', repository: { url: 'git+https://github.com/todo/service.git' } };
const GOOD = {
  version: '1.2.3',
  changelog:
    '# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-21\n\n- A thing\n\n## [1.2.2] - 2026-11-01\n',
  tags: ['latest', 'v1.2.3'],
  commit: '94f351105f098e0006ed8d0fe2c01125fd90d151',
  documents: { 'shared-list.v1.json': '1.0.0', 'error-demo.v1.json': '1.2.0' },
  packages: { 'package.json': MANIFEST, 'packages/client/package.json': MANIFEST },
  repository: 'todo/service',
};

test('version, changelog, tag and commit agree', () => {
  assert.deepEqual(disagreements(GOOD), []);
});

for (const [change, fault] of [
  [
    { version: '1.2.4', tags: ['v1.2.4'], packages: {} },
    'the newest release of CHANGELOG.md must be 1.2.4, received 1.2.3',
  ],
  [
    { packages: { 'packages/client/package.json': { ...MANIFEST, version: '1.2.2' } } },
    'the version of packages/client/package.json must be 1.2.3, received 1.2.2',
  ],
  [
    { packages: { 'package.json': { version: '1.2.3' } } },
    `the repository of package.json must be ${MANIFEST.repository.url}, received none`,
  ],
  [
    {
      packages: { 'package.json': { version: '1.2.3', repository: { url: 'https://github.com/todo/fork' } } },
    },
    `the repository of package.json must be ${MANIFEST.repository.url}, received https://github.com/todo/fork`,
  ],
  [
    {
      version: '1.2.3-rc.1',
      changelog: '## [1.2.3-rc.1] - 2026-11-21\n',
      tags: ['v1.2.3-rc.1'],
      packages: {},
    },
    'the version must be three numbers, received 1.2.3-rc.1',
  ],
  [{ changelog: '## [Unreleased]\n' }, 'the newest release of CHANGELOG.md must be 1.2.3, received none'],
  [{ changelog: '## [1.2.3]\n' }, '1.2.3 must have a date in CHANGELOG.md'],
  [{ tags: ['v1.2.2'] }, 'the commit must have the tag v1.2.3, received v1.2.2'],
  [{ tags: [] }, 'the commit must have the tag v1.2.3, received none'],
  [{ commit: `${GOOD.commit}-dirty` }, 'no file may be changed since the commit'],
  [
    { documents: { 'shared-list.v1.json': '2.0.0' } },
    'info.version of shared-list.v1.json must be three numbers of v1, received 2.0.0',
  ],
  [{ commit: null }, 'no file may be changed since the commit'],
] as const) {
  test(`a release is refused: ${fault}, with ${JSON.stringify(change).slice(0, 60)}`, () => {
    assert.deepEqual(disagreements({ ...GOOD, ...change }), [fault]);
  });
}

test('a license that asks for more than its text is a fault, and so is none', () => {
  assert.equal(licenseFault('pg', 'MIT'), undefined);
  assert.match(licenseFault('x', 'GPL-3.0') ?? '', /^the license of x must be one of .*, received GPL-3\.0$/);
  assert.match(licenseFault('x', undefined) ?? '', /received none$/);
});

test('the list of parts has what is in the executable and no tool, and is the same for the same date', {
  skip: outputOf('npm', 'sbom', '--help') === undefined && 'needs npm 10',
}, () => {
  const kind = `${process.platform}-${process.arch}`;
  const list = bill(kind, '1795290952');
  const { metadata, components } = JSON.parse(list) as {
    metadata: { timestamp: string; component: { name: string } };
    components: readonly { name: string }[];
  };
  const names = components.map(({ name }) => name);
  assert.equal(metadata.component.name, 'todo-service');
  assert.equal(metadata.timestamp, '2026-11-21T19:55:52.000Z');
  for (const name of ['lru-cache', 'pg', 'pino', '@opentelemetry/sdk-trace'])
    assert.ok(names.includes(name), name);
  assert.ok(names.some((name) => name.startsWith('node-')));
  assert.equal(names.includes('typescript'), false);
  assert.equal(bill(kind, '1795290952'), list);
});
