/** What the site shows, and where it leads: read from the tables of contents that the pages have themselves. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAGES } from '../tools/pages.ts';

const CONTENTS = 'docs/README.md';
const DECISIONS = 'docs/decisions/README.md';

/** A group of the side bar: one of the four kinds of `docs/README.md`. */
export interface Group {
  readonly text: string;
  readonly items: readonly Entry[];
}

interface Entry {
  readonly text: string;
  readonly link: string;
}

/** The address of a page on the site, without its ending: a `README.md` is the index of its folder. */
export function addressOf(page: string): string {
  return `/${page}`.replace(/README\.md$/, '').replace(/\.md$/, '');
}

/**
 * The groups of `docs/README.md`, in its order and words: a page stands where it is named first.
 *
 * @throws Error when a page of the repository is neither in it nor in the list of decisions.
 */
export function readNavigation(): readonly Group[] {
  const named = new Set(['README.md', CONTENTS]);
  const groups = readFileSync(CONTENTS, 'utf8')
    .split(/^(?=\*\*)/m)
    .slice(1)
    .map((group) => {
      const [, text = ''] = /^\*\*([^*:]+)/.exec(group) ?? [];
      const items = linksOf(CONTENTS, group).filter(({ page }) => !named.has(page) && named.add(page));
      return {
        text,
        items: items.map(({ text, page }) => ({ text: capitalized(text), link: addressOf(page) })),
      };
    });
  for (const { page } of linksOf(DECISIONS, readFileSync(DECISIONS, 'utf8'))) named.add(page);
  const missing = PAGES.filter((page) => !named.has(page));
  if (missing.length > 0)
    throw new Error(`Cannot build the site: ${CONTENTS} must name ${missing.join(', ')}`);
  return groups;
}

/** The links of a text to pages of ours, without those to a section of one. */
function linksOf(page: string, text: string): readonly { readonly text: string; readonly page: string }[] {
  return Array.from(text.matchAll(/\[([^\]]+)\]\(([^)#:]+\.md)\)/g), ([, name = '', path = '']) => ({
    text: name,
    page: join(page, '..', path),
  }));
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
