/**
 * Makes `build/todo-service_<version>_<architecture>.deb` of the executable, for the machine that builds it. Needs
 * `dpkg-deb`, and `npm run executable` before it.
 */
import { globSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import manifest from '../../package.json' with { type: 'json' };
import { giveUp, outputOf, run } from '../command.ts';
import { copy, sumLine, write } from '../files.ts';
import { dateOf } from '../origin.ts';
import { instanceUnitOf } from './instances.ts';
import { manualOf } from './manual.ts';

const documents = 'usr/share/doc/todo-service';

const PLACES = {
  'build/todo-service': ['usr/bin/todo-service', 0o755],
  'build/completions/bash/todo-service': ['usr/share/bash-completion/completions/todo-service', 0o644],
  'build/completions/zsh/_todo-service': ['usr/share/zsh/vendor-completions/_todo-service', 0o644],
  'build/completions/fish/todo-service.fish': [
    'usr/share/fish/vendor_completions.d/todo-service.fish',
    0o644,
  ],
  'deploy/todo-service.service': ['usr/lib/systemd/system/todo-service.service', 0o644],
  'deploy/todo-service.socket': ['usr/lib/systemd/system/todo-service.socket', 0o644],
  'deploy/debian/todo-service-backup.service': ['usr/lib/systemd/system/todo-service-backup.service', 0o644],
  'deploy/debian/todo-service-backup.timer': ['usr/lib/systemd/system/todo-service-backup.timer', 0o644],
  'deploy/debian/instance': ['usr/lib/todo-service/instance', 0o755],
  'deploy/debian/restart': ['usr/lib/todo-service/restart', 0o755],
  'deploy/debian/backup-made': ['usr/lib/todo-service/backup-made', 0o755],
  'deploy/debian/environment': ['usr/share/todo-service/environment', 0o644],
  'deploy/debian/lintian-overrides': ['usr/share/lintian/overrides/todo-service', 0o644],
  'deploy/debian/postinst': ['DEBIAN/postinst', 0o755],
  'deploy/debian/prerm': ['DEBIAN/prerm', 0o755],
  'deploy/debian/postrm': ['DEBIAN/postrm', 0o755],
} as const;

const root = fileURLToPath(new URL('../..', import.meta.url));
const stage = 'build/debian';

process.chdir(root);
process.umask(0o022);
const architecture = outputOf('dpkg', '--print-architecture');
if (architecture === undefined)
  giveUp('Cannot make the package: there is no dpkg, so build on Debian or its kin');
rmSync(stage, { recursive: true, force: true });
const { version } = manifest;
const date = dateOf(root);

const papers = globSync([
  '*.md',
  'packages/*/README.md',
  'docs/**/*',
  'deploy/*.*',
  'deploy/{kubernetes,proxies}/**/*',
]).filter((file) => statSync(file).isFile());
const places = [
  ...Object.entries(PLACES),
  ...papers.map((file) => [file, [`${documents}/${file}`, 0o644]] as const),
];
for (const [from, [to, mode]] of places) {
  copy(from, join(stage, to), mode);
}
const read = (file: string) => readFileSync(file, 'utf8');
keep('usr/lib/systemd/system/todo-service@.service', instanceUnitOf(read('deploy/todo-service.service')));
keep(`${documents}/copyright`, read('deploy/debian/copyright') + read('LICENSE'));
keep(`${documents}/LICENSES.txt.gz`, gzipSync(read('build/LICENSES.txt'), { level: 9 }));
keep(`${documents}/changelog.gz`, gzipSync(changelog(), { level: 9 }));
const manual = manualOf('build/todo-service', version, Number(date));
keep('usr/share/man/man1/todo-service.1.gz', gzipSync(manual, { level: 9 }));

const files = globSync('usr/**/*', { cwd: stage })
  .filter((file) => statSync(join(stage, file)).isFile())
  .sort();
const size = files.reduce((sum, file) => sum + Math.ceil(statSync(join(stage, file)).size / 1_024), 0);
const values: Readonly<Record<string, string>> = { version, architecture, size: String(size) };
const control = read('deploy/debian/control');
keep(
  'DEBIAN/control',
  control.replace(/\$\{(\w+)\}/g, (_, name) => values[name] ?? ''),
);
keep('DEBIAN/md5sums', files.map((file) => sumLine('md5', join(stage, file), file)).join(''));

process.env.SOURCE_DATE_EPOCH = date;
const output = `build/todo-service_${version}_${architecture}.deb`;
run('dpkg-deb', '--root-owner-group', '-Zxz', '-z2', '--build', stage, output);

function keep(file: string, content: string | Buffer): void {
  write(join(stage, file), content);
}

/** Of the package; what changed in the service is in CHANGELOG.md beside it. */
function changelog(): string {
  const day = new Date(Number(date) * 1_000).toUTCString().replace('GMT', '+0000');
  const [, maintainer] = /^Maintainer: (.*)$/m.exec(read('deploy/debian/control')) ?? [];
  return `todo-service (${version}) stable; urgency=medium

  * Release ${version}: see CHANGELOG.md.

 -- ${maintainer}  ${day}
`;
}
