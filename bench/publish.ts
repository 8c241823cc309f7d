/**
 * Puts measured results into the documentation: `node bench/publish.ts [results.json] [--soak output]` writes what
 * is quoted between the markers of docs/performance.md, and the chart and all figures as JSON beside it. `output` is a file with what
 * `npm run soak` printed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chart } from './chart.ts';
import { summary } from './report.ts';
import type { Results, Soak } from './results.ts';

const MARKED = /(<!-- figures -->\n)[\s\S]*(<!-- end of figures -->)/;

const { positionals, values } = parseArgs({ allowPositionals: true, options: { soak: { type: 'string' } } });
const [file = new URL('results.json', import.meta.url)] = positionals;
const measured: Results = JSON.parse(readFileSync(file, 'utf8'));
const results = values.soak === undefined ? measured : { ...measured, soak: readSoak(values.soak) };
const docs = (name: string) => new URL(`../docs/${name}`, import.meta.url);

const page = readFileSync(docs('performance.md'), 'utf8');
if (!MARKED.test(page)) throw new Error('Cannot publish: docs/performance.md has no markers for the figures');
writeFileSync(
  docs('performance.md'),
  page.replace(MARKED, (_all, begin, end) => `${begin}\n${summary(results)}\n\n${end}`),
);
writeFileSync(docs('performance.svg'), chart(results.figures));
writeFileSync(docs('performance.json'), `${JSON.stringify(results)}\n`);

function readSoak(path: string): Soak {
  const printed = readFileSync(path, 'utf8');
  const minutes = /^([\d.]+) minutes, \d+ answers/m.exec(printed)?.[1];
  const [, megabytes, megabytesPerHour] =
    /^resident ([\d.]+) MB, slope (-?[\d.]+) MB\/h/m.exec(printed) ?? [];
  if (minutes === undefined || megabytes === undefined || megabytesPerHour === undefined) {
    throw new Error(`Cannot publish: ${JSON.stringify(path)} must hold what "npm run soak" printed`);
  }
  return {
    minutes: Number(minutes),
    megabytes: Number(megabytes),
    megabytesPerHour: Number(megabytesPerHour),
  };
}
