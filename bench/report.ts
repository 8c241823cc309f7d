import { score } from './goals.ts';
import type { Figures, Results } from './results.ts';
import { SCENARIOS } from './scenarios.ts';
import { serverNamed } from './servers.ts';

/** The tables as Markdown: machine, goals, a table per scenario, and when the figures mean nothing. */
export function markdown(results: Results): string {
  return [
    machineTable(results),
    goalTable(results.figures),
    ...(results.failures.length === 0
      ? []
      : [
          `### Failed trials\n\n${results.failures.map((failure) => `- ${failure.split('\n')[0]}`).join('\n')}`,
        ]),
    ...SCENARIOS.flatMap(({ name, title }) => {
      const figures = results.figures.filter((one) => one.scenario === name);
      return figures.length === 0 ? [] : [`### ${title}\n\n${scenarioTable(name, figures)}`];
    }),
    MEANINGLESS,
  ].join('\n\n');
}

const MEANINGLESS = `### When these figures mean nothing

They compare servers on one machine in one run; they do not say what another machine does. Throughput and percentiles mean
nothing when the load needs more CPU than the server (then the server waits), when something else runs on either core, or when
the processor is shared with other virtual machines; CPU per request suffers least, and a ratio of two of them in the same run
least of all. The load asks again as soon as it has its answer, so percentiles are those of a busy server, not of a visitor's
wait. Requests that failed are in the last column: a row with any of them proves nothing. Nothing here is about a network, TLS,
or more data than fits in memory.`;

function machineTable({ date, command, machine, versions }: Results): string {
  const rows = Object.entries({
    date,
    command: `\`${command}\``,
    ...machine,
    versions: Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
  });
  return table(['', ''], rows);
}

function goalTable(figures: readonly Figures[]): string {
  const rows = score(figures).map(({ goal, figure, reached }) => {
    const title = SCENARIOS.find(({ name }) => name === goal.scenario)?.title ?? '';
    const [relation, limit] = goal.bound;
    const wanted = `${{ '<=': 'at most', '<': 'below', '>=': 'at least' }[relation]} ${round(limit)}`;
    return [title, goal.text, wanted, round(figure), reached ? 'reached' : '**missed**'];
  });
  return `### Goals\n\n${table(['Scenario', 'Figure', 'Goal', 'Measured', ''], rows)}`;
}

function scenarioTable(scenario: string, figures: readonly Figures[]): string {
  const own = figures.find(({ server }) => server === 'service');
  const busy = scenario === 'busy-list';
  if (scenario === 'start') {
    const rows = [...figures]
      .sort((a, b) => (a.start ?? 0) - (b.start ?? 0))
      .map((one) => [titleOf(one), round(one.start), round(one.memory)]);
    return table(['Server', 'ms', 'MB'], rows);
  }
  const rows = [...figures]
    .sort((a, b) => (a.cpu ?? 0) - (b.cpu ?? 0))
    .map((one) => [
      titleOf(one),
      round(one.requestsPerSecond),
      round(one.p50),
      round(one.p99),
      round(one.cpu),
      round((one.cpu ?? Number.NaN) / (own?.cpu ?? Number.NaN)),
      round(one.memory),
      String(one.failed),
    ]);
  const names = busy ? ['lists/s', 'p50 of one, ms', 'p99 of one, ms'] : ['requests/s', 'p50 ms', 'p99 ms'];
  return table(['Server', ...names, 'CPU µs/request', 'by ours', 'MB', 'failed'], rows);
}

/** The server, and for writes what a power cut does to it. */
export function titleOf({ server, durability }: Figures): string {
  const { title, role } = serverNamed(server);
  const name = role === 'service' ? `**${title}**` : title;
  return durability === undefined ? name : `${name}, ${durability === 'durable' ? 'synced' : 'not synced'}`;
}

/** Three significant digits; a dash where there is nothing. */
export function round(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, index) => (index === 0 || head.length === 2 ? '---' : '---:'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}
