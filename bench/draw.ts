import { readFileSync, writeFileSync } from 'node:fs';
import { chartsOf } from './charts.ts';
import { published } from './figures.ts';
import { tablesOf, withTables } from './report.ts';

const PAGE = 'docs/sizing.md';

/** Where the charts are; the page shows them. */
const CHARTS = 'docs/charts';

/** Makes tables and charts of the page anew, from the figures that are published. */
export async function draw(): Promise<void> {
  const figures = published();
  writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8'), tablesOf(figures)));
  for (const [name, svg] of await chartsOf(figures)) writeFileSync(`${CHARTS}/${name}`, svg);
}

/** @throws Error where a chart is another one than these figures give. */
export async function holdCharts(): Promise<void> {
  for (const [name, svg] of await chartsOf(published())) {
    if (readFileSync(`${CHARTS}/${name}`, 'utf8') === svg) continue;
    throw new Error(`${CHARTS}/${name} is not what the published figures give: npm run bench -- --draw`);
  }
}
