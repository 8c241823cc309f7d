/**
 * Writes the version wherever the checkout names it, dates its section of `CHANGELOG.md`, and says in the manifests and the pages where the repository is.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { giveUp } from '../command.ts';

const USAGE = 'Usage: node tools/release/version.ts VERSION [--repository OWNER/NAME]';

/** What is published to npm. */
const MANIFESTS = ['package.json', 'packages/client/package.json', 'packages/conformance/package.json'];

/** Pages and examples that name the version or the repository. */
const PAGES = ['*.md', '{deploy,docs}/**/*.{md,yaml,json,svg}', 'packages/*/README.md', '.github/**/*.yml'];

const { values, positionals } = parseArgs({
  options: { repository: { type: 'string' }, help: { type: 'boolean' } },
  allowPositionals: true,
});
const [version = '', ...more] = positionals;
const { repository } = values;
if (values.help) {
  process.stdout.write(`${USAGE}\n`);
  process.exit();
}
if (more.length > 0 || !/^\d+\.\d+\.\d+$/.test(version)) giveUp(`A version is three numbers. ${USAGE}`, 2);
if (repository !== undefined && !/^[\w-]+\/[\w.-]+$/.test(repository)) {
  giveUp(`--repository must be OWNER/NAME, received "${repository}". ${USAGE}`, 2);
}

for (const file of MANIFESTS) {
  const { name, version: _, description, ...rest } = JSON.parse(readFileSync(file, 'utf8'));
  const folder = file.replace(/\/?package\.json$/, '');
  const address = repository === undefined ? {} : addressOf(repository, folder);
  write(file, `${JSON.stringify({ name, version, description, ...rest, ...address }, null, 2)}\n`);
}
for (const file of globSync(PAGES)) {
  if (file === 'CHANGELOG.md' || file.includes('node_modules')) continue;
  write(file, repositoryIn(readFileSync(file, 'utf8').replaceAll(named(manifest.version), version)));
}
write('CHANGELOG.md', dated(readFileSync('CHANGELOG.md', 'utf8')));
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
lock.version = version;
for (const folder of ['', 'packages/client', 'packages/conformance']) lock.packages[folder].version = version;
write('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);

/** Members of a manifest: https://docs.npmjs.com/cli/v11/configuring-npm/package-json#repository */
function addressOf(ownerAndName: string, folder: string): object {
  const page = `https://github.com/${ownerAndName}`;
  const directory = folder === '' ? {} : { directory: folder };
  return {
    homepage: `${page}#readme`,
    bugs: `${page}/issues`,
    repository: { type: 'git', url: `git+${page}.git`, ...directory },
  };
}

function named(old: string): RegExp {
  return new RegExp(`(?<![\\d.])${old.replaceAll('.', '\\.')}(?!\\.?\\d)`, 'g');
}

function repositoryIn(text: string): string {
  return repository === undefined ? text : text.replaceAll('OWNER/REPOSITORY', repository);
}

/** The newest section, which has no date yet, is that of this version, of today. */
function dated(changelog: string): string {
  const today = new Date().toISOString().slice(0, 10);
  return changelog.replace(
    /^## \[[^\]]+\]\n\n(?:Not released yet\.\n\n)?/m,
    `## [${version}] - ${today}\n\n`,
  );
}

function write(file: string, text: string): void {
  if (readFileSync(file, 'utf8') !== text) {
    writeFileSync(file, text);
    process.stdout.write(`${file}\n`);
  }
}
