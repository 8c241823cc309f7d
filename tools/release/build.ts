/**
 * `npm run release`: checks that version, changelog, tag, licenses and the registry's signatures are in order, and makes in
 * `build/release` what is released for this machine's kind, with `SHA256SUMS` and an SBOM, and uses each npm package in
 * an empty folder. Signing and publishing is what `.github/workflows/release.yml` adds. With `--rehearse` it goes on where
 * something is not in order.
 */
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { outputOf, run } from '../command.ts';
import { COMPLETIONS } from '../completions.ts';
import { licenseFault } from '../executable/licenses.ts';
import { sumLine } from '../files.ts';
import { lockedFor } from '../locked.ts';
import { commitOf, dateOf, tagsOf } from '../origin.ts';
import { disagreements } from './agreement.ts';
import { bill } from './bill.ts';

const { version } = manifest;
const rehearse = process.argv.includes('--rehearse');
const root = fileURLToPath(new URL('../..', import.meta.url));
const out = 'build/release';
const packages = ['package.json', 'packages/client/package.json', 'packages/conformance/package.json'];

process.chdir(root);
process.env.SOURCE_DATE_EPOCH = dateOf(root);

const signatures = outputOf('npm', 'audit', 'signatures');
const faults = [
  ...disagreements({
    version,
    changelog: readFileSync('CHANGELOG.md', 'utf8'),
    tags: tagsOf(root),
    commit: commitOf(root),
    documents: Object.fromEntries(globSync('src/openapi/*.json').map(versionOf)),
    packages: Object.fromEntries(packages.map((file) => [file, JSON.parse(readFileSync(file, 'utf8'))])),
    repository: process.env.GITHUB_REPOSITORY ?? 'OWNER/REPOSITORY',
  }),
  ...Object.entries(lockedFor().packages).map(([folder, { license }]) => licenseFault(folder, license)),
  signatures === undefined ? '"npm audit signatures" fails' : undefined,
].filter((fault) => fault !== undefined);
for (const fault of faults) process.stderr.write(`Not in order: ${fault}\n`);
if (faults.length > 0 && !rehearse) process.exit(1);

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const kind = `${process.platform}-${process.arch}`;
run('npm', 'run', '--silent', 'executable');
keep('build/todo-service', `todo-service-${version}-${kind}`);
keep('build/LICENSES.txt', `todo-service-${version}-${kind}.licenses.txt`);
for (const [shell, name] of Object.entries(COMPLETIONS)) {
  keep(`build/completions/${shell}/${name}`, `todo-service-${version}-${kind}.completions.${shell}`);
}
if (process.platform === 'linux') {
  run(process.execPath, 'tools/image/build.ts');
  keep('build/todo-service-image.tar', `todo-service-${version}-${kind}.oci.tar`);
  run(process.execPath, 'tools/debian/build.ts');
  const [deb = ''] = globSync(`todo-service_${version}_*.deb`, { cwd: 'build' });
  keep(join('build', deb), deb);
}
// Without its script, a package lacks the program.
const pack = ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', out];
run('npm', ...pack);
const workspaces = ['--workspace', 'packages/client', '--workspace', 'packages/conformance'];
run('npm', ...pack, ...workspaces);
process.env.RELEASED = resolve(out);
run(process.execPath, '--test', ...['package', 'workspace'].map((name) => `test/package/${name}.test.ts`));
writeFileSync(
  join(out, `todo-service-${version}-${kind}.cdx.json`),
  bill(kind, process.env.SOURCE_DATE_EPOCH),
);
const sums = globSync('*', { cwd: out })
  .sort()
  .map((name) => sumLine('sha256', join(out, name), name));
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
process.stdout.write(sums.join(''));

function keep(from: string, name: string): void {
  copyFileSync(from, join(out, name));
}

function versionOf(path: string): readonly [file: string, version: string] {
  const { info }: { readonly info: { readonly version: string } } = JSON.parse(readFileSync(path, 'utf8'));
  return [basename(path), info.version];
}
