import { quantile } from '../test/steadily.ts';
import type { Measurement } from './measure.ts';
import { ONE, SCENARIOS } from './scenarios.ts';
import { SERVERS, serverNamed } from './servers.ts';

type Figure = 'cpu' | 'requestsPerSecond' | 'p99';

const PEERS = SERVERS.filter(({ role }) => role === 'peer');

/** What was measured, as Markdown. Measurements of a server stand in the order of the rounds. */
export function tables(measurements: readonly Measurement[]): string {
  const of = (scenario: string, server: string) =>
    measurements.filter((one) => one.scenario === scenario && one.server === server);

  const matrix = (title: string, figure: Figure, unit: string, scenarios = SCENARIOS) => {
    const rows = scenarios.flatMap((scenario) => {
      const own = of(scenario.name, 'service').map((one) => one[figure]);
      if (own.length === 0 || own.some(Number.isNaN)) return [];
      const others = ['floor', ...PEERS.map(({ name }) => name)].map((name) => {
        const server = scenario.servers.find((one) => one === name || serverNamed(one).role === name);
        return of(scenario.name, server ?? '').map((one, round) => one[figure] / (own[round] ?? Number.NaN));
      });
      const spreads = others.filter(({ length }) => length > 1).map(spread);
      return [
        [
          scenario.title,
          round(quantile(own, 0.5)),
          ...others.map((ratios) => (ratios.length === 0 ? '–' : `${round(quantile(ratios, 0.5))} ×`)),
          spreads.length === 0 ? '–' : `± ${Math.round(Math.max(...spreads) * 100)} %`,
        ],
      ];
    });
    const head = ['', `todo-service, ${unit}`, 'floor', ...PEERS.map((peer) => peer.title), 'spread'];
    return rows.length === 0 ? [] : [`### ${title}\n\n${table(head, rows)}`];
  };

  const one = ONE.servers.flatMap((name) => {
    const found = of(ONE.name, name);
    if (found.length === 0) return [];
    const figures = (['requestsPerSecond', 'p50', 'p99', 'cpu', 'memory', 'start'] as const).map((figure) =>
      round(
        quantile(
          found.map((each) => each[figure]),
          0.5,
        ),
      ),
    );
    return [[serverNamed(name).title, ...figures]];
  });
  const head = ['', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'MB', 'start, ms'];
  return [
    ...matrix('Processor time of a request, and how many times that others take', 'cpu', 'µs'),
    ...matrix('Requests a second, and how many times as many others answer', 'requestsPerSecond', '/s'),
    ...matrix(
      'p99 of one todo while others read lists and create, and how many times that of others is',
      'p99',
      'ms',
      SCENARIOS.filter(({ busy }) => busy),
    ),
    `### One todo\n\n${table(head, one)}`,
  ].join('\n\n');
}

/** Half of the values are within this share of their median. */
function spread(values: readonly number[]): number {
  const middle = quantile(values, 0.5);
  const distances = values.map((value) => Math.abs(value - middle));
  return quantile(distances, 0.5) / middle;
}

/** Two or three significant digits; a dash where there is nothing. */
export function round(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A table of Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, index) => (index === 0 || head.length === 2 ? '---' : '---:'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}
