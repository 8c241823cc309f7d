import { globSync } from 'node:fs';

/** The words of all documents that somebody has to read, at most. */
export const MAX_WORDS = 17_000;

/** All but the decisions, the changelog, and the clauses that `npm run documents` lists. */
export function documentsToRead(): readonly string[] {
  const pages = globSync(['*.md', 'docs/*.md', '{client,conformance}/README.md']);
  return pages.filter((path) => path !== 'CHANGELOG.md' && path !== 'docs/specification.md').sort();
}

/** As `wc -w` counts them, without the source of Mermaid pictures, which nobody reads. */
export function wordsIn(markdown: string): number {
  const text = markdown.replaceAll(/^```mermaid\n.*?^```/gms, '');
  return text.split(/\s+/).filter((piece) => piece !== '').length;
}
