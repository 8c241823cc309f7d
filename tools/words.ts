import { globSync } from 'node:fs';

/** The words of all documents that somebody has to read, at most: 750 of them are those of scaling.md. */
export const MAX_WORDS = 17_750;

/** All but the decisions, the changelog, and the clauses that `npm run documents` lists. */
export function documentsToRead(): readonly string[] {
  const pages = globSync(['*.md', 'docs/*.md', '{client,conformance}/README.md']);
  return pages.filter((path) => path !== 'CHANGELOG.md' && path !== 'docs/specification.md').sort();
}

/** What has a letter or a digit between white space: the lines of a table are none, and so is the source of a picture. */
export function wordsIn(markdown: string): number {
  const text = markdown.replaceAll(/^```mermaid\n.*?^```/gms, '');
  return text.split(/\s+/).filter((piece) => /[\p{L}\p{N}]/u.test(piece)).length;
}
