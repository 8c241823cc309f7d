import { quantile } from '../test/support/steadily.ts';
import type { Measured } from './compare.ts';
import type { Cost } from './load.ts';
import type { Server } from './servers.ts';
import type { Size } from './sizes.ts';

/** Microseconds of a core in a second that a service should be planned with. */
const PLANNED = 0.7e6;

/** The processor time of the first server, how many times that of others it is, and requests a second of all. */
export function compared(measured: readonly Measured[], servers: readonly Server[]): string {
  const figures = (costs: Measured[1], figure: keyof Cost) =>
    servers.map(({ name }) => (costs.get(name) ?? []).map((cost) => cost[figure]));
  const times = measured.map(([title, costs]) => {
    const [own = [], ...others] = figures(costs, 'service');
    const ratios = others.map((theirs) => theirs.map((time, round) => (own[round] ?? Number.NaN) / time));
    const widest = Math.round(Math.max(0, ...ratios.map(spread)) * 100);
    return [title, ...[own, ...ratios].map(middle), `± ${widest} %`];
  });
  const rates = measured.map(([title, costs]) => [title, ...figures(costs, 'perSecond').map(middle)]);
  const titles = servers.map(({ title }) => title);
  const head = ['Processor time', 'µs', ...titles.slice(1).map((title) => `÷ ${title}`), 'spread'];
  return `${table(head, times)}\n\n${table(['Requests a second', ...titles], rates)}`;
}

const middle = (values: readonly number[]) => round(quantile(values, 0.5));

/** Half of the values are within this share of their median. */
function spread(values: readonly number[]): number {
  const median = quantile(values, 0.5);
  const distances = values.map((value) => Math.abs(value - median) / median);
  return values.length === 0 ? 0 : quantile(distances, 0.5);
}

/** What services take and, from that, how many people or instances that makes. */
export function sized(engine: string, sizes: ReadonlyMap<string, Size>): string {
  const row = (title: string, cell: (costs: Size['costs'], size: Size) => string | number) => {
    const cells = [...sizes.values()].map((size) => cell(size.costs, size));
    return [title, ...cells.map((value) => (typeof value === 'number' ? round(value) : value))];
  };
  const both = ({ service, postgres }: Cost, text = round) =>
    text(service) + (postgres > 0 ? ` + ${text(postgres)}` : '');
  const cores = (cost: Cost) => both(cost, (each) => String(Math.ceil((1e5 * each) / PLANNED)));
  const people = (count: number) => Number(Math.max(0, count).toPrecision(2)).toLocaleString('en');
  return table(
    [engine, ...sizes.keys()],
    [
      row('memory at most, MB', (_, { memory }) => memory),
      row('file or tables, MB', (_, { database }) => database),
      row('list, MB', ({ list }) => list.bytes / 1e6),
      row('list in gzip, MB', ({ gzip }) => gzip.bytes / 1e6),
      row('first list after a start, ms', (_, { firstList }) => firstList),
      row('one todo, µs', ({ one }) => both(one)),
      row('unchanged list (304), µs', ({ unchanged }) => both(unchanged)),
      row('list in gzip, µs', ({ gzip }) => both(gzip)),
      row('list, µs', ({ list }) => both(list)),
      row('replace, µs', ({ replace }) => both(replace)),
      row('replace or the list after it, µs', ({ changed }) => both(changed)),
      row('75 % one, 20 % replace, 5 % list, µs', ({ mixed }) => both(mixed)),
      row('people who poll each second, nothing changes', (of) => people(PLANNED / of.unchanged.service)),
      row('people who poll each second, in gzip, one change a second', ({ changed, gzip }) =>
        people((PLANNED - 2 * changed.service) / gzip.service),
      ),
      row('of them a network of 1 Gbit/s carries', ({ gzip }) => people(125e6 / gzip.bytes)),
      row('people who change a todo each minute', ({ replace }) => people((60 * PLANNED) / replace.service)),
      row('cores for 100,000 reads of one todo a second', ({ one }) => cores(one)),
      row('cores for 100,000 unchanged lists a second', ({ unchanged }) => cores(unchanged)),
      row('cores for 100,000 replaces a second', ({ replace }) => cores(replace)),
    ],
  );
}

/** Two or three significant digits; a dash where there is nothing. */
function round(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const text = value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return Number.isFinite(value) ? text : '–';
}

/** A table of Markdown. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, index) => (index === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
