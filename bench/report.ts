import { score } from './goals.ts';
import type { Figures, Results, Soak } from './results.ts';
import { SCENARIOS, scenarioNamed } from './scenarios.ts';
import { serverNamed } from './servers.ts';

export const MEANINGLESS = `They compare servers on one machine in one run; they do not say what another machine does. Throughput and percentiles mean
nothing when the load needs more CPU than the server (then the server waits), when something else runs on either core, or when
the processor is shared with other virtual machines; CPU per request suffers least, and a ratio of two of them in the same run
least of all. The load asks again as soon as it has its answer, so percentiles are those of a busy server, not of a visitor's
wait. Requests that failed are in the last column: a row with any of them proves nothing. Nothing here is about a network, TLS,
or more data than fits in memory.`;

/** The tables as Markdown: machine, goals, the service, a table per scenario, and when the figures mean nothing. */
export function markdown(results: Results): string {
  const { disturbed, failures, figures, soak, note } = results;
  return [
    ...(disturbed.length === 0
      ? []
      : [`**Do not quote this run: the machine was not quiet.** ${disturbed.join('; ')}.`]),
    machineTable(results),
    goalTable(figures, soak),
    ...(failures.length === 0
      ? []
      : [`### Failed trials\n\n${failures.map((failure) => `- ${failure.split('\n')[0]}`).join('\n')}`]),
    ownTable(figures),
    ...SCENARIOS.flatMap(({ name, title }) => {
      const measured = figures.filter((one) => one.scenario === name);
      return measured.length === 0 ? [] : [`### ${title}\n\n${scenarioTable(name, measured)}`];
    }),
    `### When these figures mean nothing\n\n${note}`,
  ].join('\n\n');
}

/** What the documentation quotes: machine, goals, and the service beside its floor and the best peers. */
export function summary(results: Results): string {
  const { disturbed, figures, soak, date, command, machine, versions } = results;
  const facts = { date, command, ...machine };
  return [
    ...(disturbed.length === 0 ? [] : [`**The machine was not quiet:** ${disturbed.join('; ')}.`]),
    table(
      ['', ''],
      [
        ...Object.entries(facts),
        [
          'versions',
          Object.entries(versions)
            .map((pair) => pair.join(' '))
            .join(', '),
        ],
      ],
    ),
    goalTable(figures, soak),
    besideTable(figures),
  ].join('\n\n');
}

/** CPU per request of the service and of the cheapest of each kind that was measured with it. */
function besideTable(figures: readonly Figures[]): string {
  const rows = SCENARIOS.filter(({ name }) => name !== 'start').flatMap(({ name, title }) => {
    const measured = figures.filter(({ scenario }) => scenario === name);
    const cheapest = (wanted: (one: Figures) => boolean) =>
      measured.filter(wanted).toSorted((a, b) => (a.cpu ?? Infinity) - (b.cpu ?? Infinity))[0];
    const named = (server: string) => round(cheapest((one) => one.server === server)?.cpu);
    const best = (role: 'floor' | 'peer', runtime: 'node' | 'bun') => {
      const found = cheapest(({ server }) => {
        const one = serverNamed(server);
        return one.role === role && one.runtime === runtime;
      });
      return found === undefined ? '–' : `${round(found.cpu)} (${found.server})`;
    };
    if (measured.length === 0) return [];
    const floor = best('floor', 'node');
    return [
      [title, named('service-admin'), named('service'), floor, best('peer', 'node'), best('peer', 'bun')],
    ];
  });
  const head = ['CPU µs/request', 'admin listener', 'nothing on', 'floor', 'best on Node.js', 'best on Bun'];
  return `### Beside the floor and the best peers\n\n${table(head, rows)}`;
}

function machineTable({ date, command, commands, machine, versions }: Results): string {
  const rows = Object.entries({
    date,
    command: `\`${command}\``,
    'the server, for example': `\`${commands.server}\``,
    'the load, for example': `\`${commands.load}\``,
    ...machine,
    versions: Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
  });
  return table(['', ''], rows);
}

function goalTable(figures: readonly Figures[], soak: Soak | undefined): string {
  const rows = score(figures, soak).map(({ goal, figure, reached }) => {
    const title =
      SCENARIOS.find(({ name }) => name === goal.scenario)?.title ?? 'The mix for an hour: `npm run soak`';
    const [relation, limit] = goal.bound;
    const wanted = `${{ '<=': 'at most', '<': 'below', '>=': 'at least' }[relation]} ${round(limit)}`;
    const verdict = !Number.isFinite(figure) ? 'not measured' : reached ? 'reached' : '**missed**';
    return [title, goal.text, wanted, round(figure), verdict];
  });
  return `### Goals\n\n${table(['Scenario', 'Figure', 'Goal', 'Measured', ''], rows)}`;
}

/** The service alone in every scenario, and what a log line per request adds. */
function ownTable(figures: readonly Figures[]): string {
  const rows = figures
    .filter(({ server, scenario }) => server === 'service' && scenario !== 'start')
    .map((own) => {
      const logged = figures.find(
        ({ server, scenario }) => server === 'service-log' && scenario === own.scenario,
      );
      const { title } = scenarioNamed(own.scenario);
      return [
        title,
        ...[own.requestsPerSecond, own.p50, own.p99, own.cpu, logged?.cpu, own.memory].map(round),
        String(own.failed),
      ];
    });
  const head = [
    'Scenario',
    'requests/s',
    'p50 ms',
    'p99 ms',
    'CPU µs/request',
    'with a log line',
    'MB',
    'failed',
  ];
  return `### todo-service alone\n\n${table(head, rows)}`;
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
