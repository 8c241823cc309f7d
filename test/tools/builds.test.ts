import assert from 'node:assert/strict';
import { test } from 'node:test';
import { project } from '../package/npm.ts';
import { run } from '../package/program.ts';
import { temporaryFolder } from '../support/folder.ts';

for (const [build, line] of [
  [
    'tools/image/build.ts',
    'Cannot make the image: it needs a running docker, podman or buildah (on Debian: apt-get install buildah)',
  ],
  ['tools/debian/build.ts', 'Cannot make the package: there is no dpkg, so build on Debian or its kin'],
] as const) {
  test(`${build} without what it builds with is one line`, async () => {
    await using empty = await temporaryFolder();
    const place = { cwd: project, env: { PATH: empty.path } };
    const { code, stdout, stderr } = await run(process.execPath, [build], place);
    assert.deepEqual({ code, stdout, stderr }, { code: 69, stdout: '', stderr: `${line}\n` });
  });
}
