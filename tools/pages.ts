import { globSync, readFileSync } from 'node:fs';

/** The repository as GitHub shows it; what npm has brought is left out. */
export const PAGES = globSync(['*.md', '{deploy,docs}/**/*.md', 'packages/*/README.md']);

/** What a link can name: the headings as GitHub makes anchors of them, and the anchors that the page has itself. */
export function anchorsOf(page: string): ReadonlySet<string> {
  const text = readFileSync(page, 'utf8');
  const headings = Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = '']) => slug(heading));
  return new Set([...headings, ...Array.from(text.matchAll(/<a id="([^"]+)">/g), ([, id = '']) => id)]);
}

/** The anchor that GitHub makes of a heading. */
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
