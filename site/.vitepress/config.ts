import { readdirSync } from 'node:fs';
import type { UserConfig } from 'vitepress';
import manifest from '../../package.json' with { type: 'json' };
import { PAGES, slug } from '../../tools/pages.ts';
import { diagramRule } from '../diagrams.ts';
import { linkRule } from '../links.ts';
import { readNavigation } from '../pages.ts';

/** Bars what the site would take from elsewhere. VitePress and Vite write scripts and styles into the page. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
].join('; ');

const faults: string[] = [];
const { repository }: { readonly repository?: { readonly url: string } } = manifest;
/** The files of the version that the site describes; undefined until the manifest says where the repository is. */
const files = repository && `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/v${manifest.version}`;

/** The site: the pages of the repository, as they are. It is built at the root of the repository (`npm run site`). */
const config: UserConfig = {
  srcDir: '..',
  outDir: '../build/site',
  cacheDir: '../build/site-cache',
  srcExclude: foldersWithoutPages(),
  rewrites: (page) => page.replace(/README\.md$/, 'index.md'),
  lang: 'en',
  // The pictures follow the system too.
  appearance: 'force-auto',
  title: `Todo Service ${manifest.version}`,
  description: manifest.description,
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: POLICY }],
    ['link', { rel: 'icon', type: 'image/svg+xml', href: 'data:,' }],
  ],
  markdown: {
    anchor: { slugify: slug },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(markdown) {
      markdown.use(linkRule(files, (fault) => faults.push(fault)));
      markdown.use(diagramRule);
    },
  },
  themeConfig: {
    nav: [
      { text: 'Interface', link: '/reference/shared-list.html', target: '_self' },
      { text: 'Error demo', link: '/reference/error-demo.html', target: '_self' },
    ],
    sidebar: readNavigation().map((group) => ({ ...group, items: [...group.items] })),
    search: { provider: 'local' },
    outline: [2, 3],
  },
  // Mermaid's parts are large, and loaded by the one page that has a diagram.
  vite: { build: { chunkSizeWarningLimit: 4096, target: 'es2022' } },
  buildEnd() {
    if (faults.length > 0) throw new Error(`Cannot build the site:\n${[...new Set(faults)].join('\n')}`);
  },
};
export default config;

/** Folders of the checkout that have no page: what tests and tools make there has pages of others. */
function foldersWithoutPages(): string[] {
  const shown = PAGES.map((page) => page.split('/')[0]);
  const folders = readdirSync('.', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.filter(({ name }) => !shown.includes(name)).map(({ name }) => `${name}/**`);
}
