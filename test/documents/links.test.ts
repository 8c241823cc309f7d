import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { readNavigation } from '../../site/pages.ts';
import { anchorsOf, PAGES, slug } from '../../tools/pages.ts';

/** What is no page and may name one. */
const CODE = globSync([
  '{src,tools,test/endurance}/**/*.ts',
  'bench/*.ts',
  'packages/*/src/**/*.ts',
  'deploy/*.{yaml,json,service,socket}',
  'deploy/kubernetes/*/*.yaml',
  'deploy/proxies/*',
  'deploy/debian/environment',
  'Containerfile',
]);

/** A page of ours: `limits.md#memory`, or `incidents.md, "For each alert"`. */
const MENTION =
  /(?<![\w/.-])(?:docs\/)?([A-Z]+|[a-z][a-z-]+)\.md(?:#([\w-]+)|, "([^"]+)"|, ([A-Z][\w ]+)(?=\)))?/g;

test('every link from one document to another, or to a file, leads to something that is there', () => {
  const broken = PAGES.flatMap((page) =>
    linksIn(page).filter(({ path, anchor }) => {
      if (!existsSync(path)) return true;
      return anchor !== undefined && path.endsWith('.md') && !anchorsOf(path).has(anchor);
    }),
  );
  assert.deepEqual(broken, []);
});

test('every page that the code, an alert or an example names is there, and so is its section', () => {
  const named = CODE.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(MENTION)].map(([mention, name = '', anchor, quoted, heading]) => {
      const path = [`docs/${name}.md`, `${name}.md`].find(existsSync);
      const section = anchor ?? slug(quoted ?? heading ?? '');
      return { file, mention, isThere: path && (section === '' || anchorsOf(path).has(section)) };
    }),
  );
  assert.ok(named.length > 20, `only ${named.length} were found`);
  assert.deepEqual(
    named.filter(({ isThere }) => !isThere),
    [],
  );
});

test('the npm package carries what its README links to', () => {
  const manifest: { readonly files: readonly string[] } = JSON.parse(readFileSync('package.json', 'utf8'));
  // npm adds these by itself.
  const carried = [...manifest.files, 'README.md', 'LICENSE'];
  const links = linksIn('README.md').map(({ path }) => path);
  assert.ok(links.length > 0);
  assert.deepEqual(
    links.filter((path) => !carried.some((entry) => path === entry || path.startsWith(`${entry}/`))),
    [],
  );
});

test('until they are published, no page takes our packages from a registry, where anybody may have their names', () => {
  const ours = /\b(?:npm (?:i|install|exec)|npx)\b.* todo-(?:service|conformance)[\w-]*(?:@\S*)?(?: |$)/;
  const wrong = PAGES.flatMap((page) => {
    const lines = readFileSync(page, 'utf8').split('\n');
    return lines
      .filter((line) => ours.test(line) && !line.includes('.tgz'))
      .map((line) => `${page}: ${line}`);
  });
  const isPublished = /^## \[\d[^\]]*\] - \d{4}-/m.test(readFileSync('CHANGELOG.md', 'utf8'));
  assert.deepEqual(isPublished ? [] : wrong, []);
});

test('docs/README.md leads to every page, by four kinds, in at most 30 lines', () => {
  const kinds = readNavigation().map(({ text }) => text);
  assert.deepEqual(kinds, ['Tutorial', 'How to', 'Reference', 'Explanation']);
  assert.ok(readFileSync('docs/README.md', 'utf8').split('\n').length <= 30);
});

test('docs/decisions/README.md has a line for every decision', () => {
  const records = globSync('docs/decisions/[0-9]*.md');
  assert.ok(records.length > 0);
  const linked = new Set(linksIn('docs/decisions/README.md').map(({ path }) => path));
  assert.deepEqual(
    records.filter((record) => !linked.has(record)),
    [],
  );
});

test('docs/decisions/README.md says how long what is written by hand is, within a tenth', () => {
  const rows = readFileSync('docs/decisions/README.md', 'utf8').matchAll(
    /^\| [^|]+ \| (`[^|]+`) \| (\d+) \|/gm,
  );
  let found = 0;
  for (const [row, files = '', lines] of rows) {
    const texts = Array.from(files.matchAll(/`([^`]+)`/g), ([, path = '']) =>
      readFileSync(globSync([`src/${path}`, path])[0] ?? path, 'utf8'),
    );
    const is = texts.join('').split('\n').length - 1;
    assert.ok(Math.abs(Number(lines) - is) <= is / 10, `${is} lines: ${row}`);
    found += 1;
  }
  assert.ok(found > 15, `only ${found} rows were found`);
});

test('each library of test/by-hand stands in docs/decisions/README.md with its version, and each row of a case', () => {
  const page = readFileSync('docs/decisions/README.md', 'utf8');
  const { dependencies } = JSON.parse(readFileSync('test/by-hand/package.json', 'utf8'));
  const libraries = Object.entries(dependencies).map(([name, version]) => `${name} ${version}`);
  const rows = globSync('test/by-hand/*.test.ts').flatMap((path) =>
    Array.from(
      readFileSync(path, 'utf8').matchAll(/^describe\((['"])(.+)\1, /gm),
      ([, , name]) => `\n| ${name} | `,
    ),
  );
  assert.ok(libraries.length > 10 && rows.length > 15);
  for (const text of [...libraries, ...rows]) assert.ok(page.includes(text), text);
});

test('a decision names no file that is gone', () => {
  const named = globSync('docs/decisions/*.md').flatMap((page) =>
    Array.from(
      readFileSync(page, 'utf8').matchAll(/`([\w./-]+\.(?:ts|json|sql|md|lua))`/g),
      ([, path = '']) => ({
        page,
        path,
      }),
    ),
  );
  assert.ok(named.length > 50, `only ${named.length} were found`);
  const isThere = (path: string) =>
    globSync([path, `src/**/${path}`], { exclude: (name) => name === 'node_modules' }).length > 0;
  assert.deepEqual(
    named.filter(({ path }) => !isThere(path)),
    [],
  );
});

test('CONTRIBUTING.md names every long run, with its question', () => {
  const runs = globSync(['bench/compare.ts', 'test/endurance/**/*.ts']).filter((path) =>
    /const HELP\b/.test(readFileSync(path, 'utf8')),
  );
  assert.ok(runs.length >= 3, `only ${runs.length} were found`);
  const page = readFileSync('CONTRIBUTING.md', 'utf8');
  assert.deepEqual(
    runs.filter((path) => !page.includes(`\`${path}\``)),
    [],
  );
});

test('every long run, measurement and tool that a document names is there', () => {
  const named = PAGES.filter((page) => page !== 'CHANGELOG.md').flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/(?<!\/)\b(?:bench|tools|test)\/[\w/-]+\.ts\b/g)].map(
      ([path]) => ({
        page,
        path,
      }),
    ),
  );
  assert.ok(named.length > 5, `only ${named.length} were found`);
  assert.deepEqual(
    named.filter(({ path }) => !existsSync(path)),
    [],
  );
});

interface Link {
  readonly page: string;
  /** From the root of the repository. */
  readonly path: string;
  readonly anchor: string | undefined;
}

function linksIn(page: string): readonly Link[] {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/(?:\]\(|\bsrc(?:set)?=")([^)\s"]+)[)"]/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = '', anchor] = target.split('#');
    return { page, path: path === '' ? page : join(dirname(page), path), anchor };
  });
}
