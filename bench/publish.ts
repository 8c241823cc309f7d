/**
 * Puts measured results into the documentation: `node bench/publish.ts [results.json]` writes the tables between
 * the markers of docs/performance.md, and the chart and the JSON beside it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { chart } from './chart.ts';
import { markdown } from './report.ts';
import type { Results } from './results.ts';

const MARKED = /(<!-- figures -->\n)[\s\S]*(<!-- end of figures -->)/;

const [file = new URL('results.json', import.meta.url)] = process.argv.slice(2);
const results: Results = JSON.parse(readFileSync(file, 'utf8'));
const docs = (name: string) => new URL(`../docs/${name}`, import.meta.url);

const page = readFileSync(docs('performance.md'), 'utf8');
if (!MARKED.test(page)) throw new Error('Cannot publish: docs/performance.md has no markers for the figures');
writeFileSync(
  docs('performance.md'),
  page.replace(MARKED, (_all, begin, end) => `${begin}\n${markdown(results)}\n\n${end}`),
);
writeFileSync(docs('performance.svg'), chart(results.figures));
writeFileSync(docs('performance.json'), `${JSON.stringify(results)}\n`);
